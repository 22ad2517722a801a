# SPDX-License-Identifier: BSD-3-Clause
"""Names without a type in them: C11 generics (generic/c11.h) and C++ overloads (generic/cpp.h)."""
import itertools

from kernels import short_declarations
from text import comment, header, wrapped

COMPLEX = {"railshmem_complexf": "float _Complex", "railshmem_complexd": "double _Complex"}  # as C programs write them


def associations(table, function):
    """[(C type, prefix of the function)] of a generic: one row for each distinct type."""
    prefixes = {f.row.name: f.prefix for f in table.c_functions(function) if not f.with_context}
    return [(COMPLEX.get(table.types[name], table.types[name]), name, prefixes.get(name, "shmem_")) for name in table.names(function.generic_set)]


def macro_name(function, rows):
    extension = "_WITH_EXTENSIONS" if any(prefix == "shmemx_" for _, _, prefix in rows) else ""
    return function.generic_set.upper() + ("_READ" if function.read else "") + extension


def rows_macro(name, rows, read):
    lines = [f"#define RAILSHMEM_ROWS_{name}(P, OP) \\"]
    for kind, type_name, prefix in rows:
        target = f"P##{type_name}##OP" if prefix == "shmem_" else f"{prefix}{type_name}##OP"
        lines.append(f"  {kind}*: {target}," + (f" const {kind}*: {target}," if read else "") + " \\")
    lines[-1] = lines[-1].removesuffix(" \\")
    return "\n".join(lines)


def names_macro(name, rows):
    return f'#define RAILSHMEM_TYPES_{name} "{", ".join(kind for kind, _, _ in rows)}"'


def generic_macro(function, name):
    """The way to the pointer: the first argument, the second behind a team, or either with contexts."""
    way = "SELECT_CTX" if function.context else "SELECT_TEAM" if function.parameters[0][0].startswith("shmem_team_t") else "SELECT"
    generic = function.generic_name()
    return (f"#define shmem_{generic}(...) \\\n"
            f"  RAILSHMEM_{way}(RAILSHMEM_ROWS_{name}, RAILSHMEM_TYPES_{name}, _{generic}, __VA_ARGS__)")


def c11(table):
    tables, generics, done = {}, [], {}
    for family in table.families:
        for function in (f for group in family["group"] for f in group["entries"]):
            if not function.generic_set or function.generic_name() in done:
                continue
            done[function.generic_name()] = True
            rows = associations(table, function)
            name = macro_name(function, rows)
            tables[name] = rows_macro(name, rows, function.read) + "\n" + names_macro(name, rows)
            generics.append(comment(f"shmem_{function.generic_name()} for the type that its argument points to.") + "\n" +
                            generic_macro(function, name))
    body = ('#include "shmem/generic/select.h"\n\n// Tables of types: which function a pointer type selects. P is shmem_ or shmem_ctx_.\n' +
            "\n".join(tables.values()) + "\n\n" + "\n".join(generics))
    return header("RAILSHMEM_SHMEM_GENERIC_C11_H", "C11 generics: the type of an argument selects the function.", body)


def overload(function, name, signatures):
    """A C++ overload, or None where a C function has this name and these parameters."""
    if signatures.get(f"shmem_{name}") == [kind for kind, _ in function.parameters]:
        return None
    mark = "RAILSHMEM_OVERLOAD" if function.in_kernels else "inline"
    head = wrapped(f"{mark} {function.result} shmem_{name}({function.parameter_list()}) {{")
    return f"{head}\n  return {function.full_name()}({function.arguments()});\n}}"


def overloads(table):
    """(function, name without prefix, text) of every overload."""
    signatures = {f.full_name(): [kind for kind, _ in f.parameters] for f in table.all_functions() if f.row.kind == "none"}
    for function in table.all_functions():
        entry = function.entry
        if entry.overload and (function.with_context or not entry.context):
            name = entry.overload
        elif entry.generic_set and entry.cpp and function.row.name in table.names(entry.generic_set):
            name = entry.generic_name()
        else:
            continue
        if text := overload(function, name, signatures):
            yield function, name, text


def cpp(table):
    parts = []
    for in_kernels, run in itertools.groupby(overloads(table), key=lambda found: found[0].in_kernels):
        text = "\n".join(text for _, _, text in run)
        parts.append(f"#if !defined({'RAILSHMEM_HOST_NAMES' if in_kernels else '__CUDACC_RTC__'})\n{text}\n#endif")
    # Where a compiler of CUDA reads for the host, an overload is the library's function under another name.
    named = [(f.result, [kind for kind, _ in f.parameters], f'shmem_{name} __asm__("{f.full_name()}")')
             for f, name, _ in overloads(table) if f.in_kernels]
    parts.append(f"#if defined(RAILSHMEM_HOST_NAMES)\n{short_declarations('generic', 'RAILSHMEM_BOTH_SIDES', named)}\n#endif")
    families = [family["name"] for family in table.families if not family.get("extension")]
    body = ("\n".join(f'#include "shmem/{name}.h"' for name in families) + '\n#include "shmem/device/names/names.h"\n\nextern "C++" {\n\n' +
            "\n".join(parts) + '\n\n}  // extern "C++"')
    about = ("C++ overloads under the names of the C11 generics: one for each distinct type, without and with a context. An extension; each "
             "only calls the function for its type.")
    return header("RAILSHMEM_SHMEM_GENERIC_CPP_H", about, body)


def outputs(table):
    return {"include/shmem/generic/c11.h": c11(table), "include/shmem/generic/cpp.h": cpp(table)}
