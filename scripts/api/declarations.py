# SPDX-License-Identifier: BSD-3-Clause
"""include/shmem/FAMILY.h: the declarations, each with its sentence; pshmem.h: the profiling twins."""
import itertools

from text import comment, header, section_of, wrapped


def declaration(function, mark, prefix):
    line = f"{mark} {function.result} {prefix}{function.name}({function.parameter_list()});"
    return wrapped(line)


def open_run(in_kernels):
    return "#if !defined(RAILSHMEM_CUDA_NAMES)\nRAILSHMEM_BEGIN_BOTH" if in_kernels else "#if !defined(__CUDACC_RTC__)\nRAILSHMEM_BEGIN_C"


def close_run(in_kernels):
    return "RAILSHMEM_END_BOTH\n#endif" if in_kernels else "RAILSHMEM_END_C\n#endif"


def group_text(group):
    where = f" (OpenSHMEM 1.6, {group['section']})" if "section" in group else ""
    return comment(f"{group['title']}{where}.\n\n{group.get('text', '')}", "//")


def family_header(table, family):
    parts = []
    for group in family["group"]:
        parts.append(group_text(group))
        for in_kernels, run in itertools.groupby(table.group_functions(group), key=lambda f: f.in_kernels):
            mark = "RAILSHMEM_BOTH" if in_kernels else "RAILSHMEM_API"
            parts.append(open_run(in_kernels))
            parts += [comment(f.sentence + section_of(f)) + "\n" + declaration(f, mark, f.prefix) for f in run]
            parts.append(close_run(in_kernels) + "\n")
    about = family.get("intro", family["title"] + ".")
    body = '#include "shmem/api.h"\n#include "shmem/types.h"\n\n' + (family["before"].strip() + "\n\n" if "before" in family else "")
    if any(f.in_kernels for group in family["group"] for f in table.group_functions(group)):
        parts.append(f"#if defined(RAILSHMEM_KERNEL_NAMES)\n#include \"shmem/device/names/{family['name']}.h\"\n#endif")
    return header(f"RAILSHMEM_SHMEM_{family['name'].upper()}_H", about, body + "\n".join(parts))


def twins(table):
    """Of the functions of the standard; extensions have none."""
    lines = []
    for function in table.all_functions():
        if function.prefix != "shmemx_":
            lines.append(f"/// Profiling twin of {function.full_name()}.\n" + declaration(function, "RAILSHMEM_API", f"p{function.prefix}"))
    about = ("The profiling interface: every function of the standard again under its name with a p in front, which no tool replaces "
             "(OpenSHMEM 1.6, 10).")
    return header("RAILSHMEM_PSHMEM_H", about, '#include "shmem.h"\n\nRAILSHMEM_BEGIN_C\n' + "\n".join(lines) + "\nRAILSHMEM_END_C")


def outputs(table):
    out = {f"include/shmem/{family['name']}.h": family_header(table, family) for family in table.families}
    out["include/pshmem.h"] = twins(table)
    return out
