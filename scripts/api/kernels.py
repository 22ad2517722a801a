# SPDX-License-Identifier: BSD-3-Clause
"""include/shmem/device/names/: the names of the API in CUDA units, for host and kernels, by threads, warps and blocks."""
from declarations import declaration
from text import comment, header, section_of, wrapped

SCOPES = {"warp": "WarpScope", "block": "BlockScope"}
TOGETHER = "In kernels; all threads of the {} call together with equal arguments."


def host_name(function):
    return f"railshmem_host_{function.name}"


def symbol(function):
    """The library's function under a name of its own."""
    return wrapped(f'RAILSHMEM_API {function.result} {host_name(function)}({function.parameter_list()}) __asm__("{function.full_name()}");')


def definition(function):
    head = wrapped(f"RAILSHMEM_BOTH_BODY {function.result} {function.full_name()}({function.parameter_list()}) {{")
    return (f"{head}\n  return RAILSHMEM_SIDE({host_name(function)}({function.arguments()}),\n"
            f"      ({function.by('ThreadScope')}));\n}}")


def scoped(function, scope):
    """shmemx_NAME_warp, shmemx_NAME_block."""
    name = f"shmemx_{function.name}_{scope}"
    head = wrapped(f"RAILSHMEM_KERNEL_BODY {function.result} {name}({function.parameter_list()}) {{")
    text = comment(f"{function.sentence} {TOGETHER.format(scope)}{section_of(function)}")
    return f"{text}\n{head}\n  return {function.by(SCOPES[scope])};\n}}"


def short_declarations(family, mark, functions):
    """Declarations of (result, parameter types, declarator), those of one type together: where a compiler of CUDA reads for the host, each
    word counts, since a unit reads thousands of these.
    """
    by_type = {}
    for result, kinds, declarator in functions:
        by_type.setdefault((result, tuple(kinds)), []).append(declarator)
    lines = []
    for number, ((result, kinds), declarators) in enumerate(by_type.items()):
        of_type = f"railshmem_{family}_{number}"
        lines.append(f"typedef {result} {of_type}({', '.join(kinds) or 'void'});")
        lines.append(wrapped(f"{mark} {of_type} {', '.join(declarators)};"))
    return "\n".join(lines)


def for_host(family, functions):
    """What the host's side of a CUDA unit sees: the library's functions, and the names of warps and blocks."""
    shown = [f for f in functions if not f.result.startswith("RAILSHMEM_NORETURN")]
    own = [f"{declaration(f, 'RAILSHMEM_API RAILSHMEM_BOTH_SIDES', f.prefix)}" for f in functions if f not in shown]
    return ("RAILSHMEM_BEGIN_C\n" + "\n".join(own + [short_declarations(family, "RAILSHMEM_API RAILSHMEM_BOTH_SIDES",
            [(f.result, [kind for kind, _ in f.parameters], f.full_name()) for f in shown])]) + "\nRAILSHMEM_END_C")


def includes(calls):
    return "\n".join(['#include "shmem/device/names/define.h"', "", "#if defined(RAILSHMEM_KERNEL_BODIES)", "",
                      *[f'#include "shmem/device/calls/{name}.h"' for name in calls], ""])


def family_names(table, family):
    functions = [f for group in family["group"] for f in table.group_functions(group) if f.in_kernels]
    if not functions:
        return None
    body = (includes(family["calls"]) + f'#include "shmem/{family["name"]}.h"\n\n'
            "#if defined(RAILSHMEM_LIBRARY_SYMBOLS)\nRAILSHMEM_BEGIN_C\n" + "\n".join(map(symbol, functions)) +
            "\nRAILSHMEM_END_C\n#endif\n\n" + "\n".join(map(definition, functions)) +
            "\n\n#elif defined(RAILSHMEM_KERNEL_NAMES)\n\n#include \"shmem/types.h\"\n\n" + for_host(family["name"], functions) + "\n\n#endif")
    return header(f"SHMEM_DEVICE_NAMES_{family['name'].upper()}_H",
                  f"shmem/{family['name']}.h in CUDA units: what each name does on the host and in a kernel.", body)


def scoped_names(table):
    calls = sorted({name for family in table.families for name in family.get("calls", [])})
    functions = [f for f in table.all_functions() if f.entry.scopes and f.in_kernels]
    parts = [scoped(f, scope) for f in functions for scope in SCOPES]
    short = short_declarations("scoped", "RAILSHMEM_KERNEL", [(f.result, [kind for kind, _ in f.parameters], f"shmemx_{f.name}_{scope}")
                                                              for f in functions for scope in SCOPES])
    about = ("Calls that all threads of a warp or a block make together, with equal arguments: shmemx_NAME_warp, shmemx_NAME_block.\n\n"
             "NAME is a name of the standard: every put, get, put_signal, iput and iget with and without _nbi and ctx_, team_sync, "
             "sync_all, barrier_all, and the collectives of teams; and of reducescatter.h. In kernels only.")
    return header("SHMEM_DEVICE_NAMES_SCOPED_H", about, includes(calls) + "\n" + "\n".join(parts) +
                  "\n\n#elif defined(RAILSHMEM_KERNEL_NAMES)\n\n" + short + "\n\n#endif")


def outputs(table):
    out, index = {}, []
    for family in table.families:
        if text := family_names(table, family):
            out[f"include/shmem/device/names/{family['name']}.h"] = text
            index.append(family["name"])
    out["include/shmem/device/names/scoped.h"] = scoped_names(table)
    body = "\n".join(f'#include "shmem/device/names/{name}.h"' for name in sorted(index + ["scoped"]))
    out["include/shmem/device/names/names.h"] = header("SHMEM_DEVICE_NAMES_NAMES_H", "Every name that kernels can call.", body)
    return out
