# SPDX-License-Identifier: BSD-3-Clause
"""src/api/entries/FAMILY.cpp: the functions that the library exports, each of which calls a function of src/api/FAMILY.h."""
import re

from text import MARK, wrapped

HEADERS = {"reduce": "collective", "reducescatter": "collective", "reduce16": "collective", "stream": "stream_calls"}
MORE = {"deprecated": ["atomic", "wait"], "stream": [], "rma": ["api/entry", "rma/put_get", "rma/strided"]}


def call(function):
    """What stands for CALL: the name, and where the call has a target PE, the PE."""
    name = f'"{function.full_name()}"'
    on_stream = function.name.endswith("_on_stream")
    if ("int", "pe") not in function.parameters or on_stream:
        return name
    return f"{{{name}, pe}}"


def exported(function):
    return function.full_name() if function.prefix == "shmemx_" else f"p{function.full_name()}"


def definition(function):
    expression = function.host.replace("CALL", call(function)).replace(" CTX)", ", ctx)" if function.with_context else ")")
    parameters = ", ".join(f"{kind} {name}" if re.search(rf"\b{name}\b", expression) else kind for kind, name in function.parameters)
    head = wrapped(f"{function.result} {exported(function)}({parameters or 'void'}) {{")
    return f"{head}\n  return {expression};\n}}"


def alias(function):
    return f"RAILSHMEM_ALIAS{'' if function.prefix else '_PLAIN'}({function.name});"


def family_entries(table, family):
    functions = [f for group in family["group"] for f in table.group_functions(group) if f.host]
    if not functions:
        return None
    name = family["name"]
    own = MORE.get(name, []) or [HEADERS.get(name, name)]
    includes = [f'#include "src/{header if "/" in header else "api/" + header}.h"' for header in own]
    if family.get("extension"):
        includes.insert(0, f'#include "shmem/{name}.h"')
    aliases = [alias(f) for f in functions if f.prefix != "shmemx_"]
    return (f"// SPDX-License-Identifier: BSD-3-Clause\n// {MARK}\n//\n// What include/shmem/{name}.h declares.\n" + "\n".join(includes) +
            "\n\n// clang-format off\n\nusing namespace railshmem;\n\nextern \"C\" {\n\n" + "\n".join(map(definition, functions)) +
            "\n\n}\n\n" + "\n".join(aliases)).rstrip() + "\n"


def outputs(table):
    return {f"src/api/entries/{family['name']}.cpp": text for family in table.families if (text := family_entries(table, family))}
