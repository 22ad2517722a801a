# SPDX-License-Identifier: BSD-3-Clause
"""include/compat/nvshmem/: NVSHMEM's names, each of which calls ours."""
import re

from kernels import SCOPES
from text import comment, header, wrapped

HALF = {"half": "__half", "bfloat16": "__nv_bfloat16"}
ABOUT = {"rma": "Put, get, p, g and the strided ones; for warps and blocks under nvshmemx_NAME_warp and nvshmemx_NAME_block.",
         "signal": "Puts with a signal, and signals alone.", "atomic": "Atomic memory operations.",
         "wait": "Waits for, and tests of, local words.", "collective": "Collectives that move data.",
         "reduce": "Reductions, also those that deal their result out.", "stream": "Calls in the order of a stream (shmem/stream.h)."}
FILES = {"deprecated": "wait", "reducescatter": "reduce"}  # where a family's names are, if not in a file of its own
ONE_THREAD = "by one thread"  # by a type's name only, and not for warps and blocks
REDUCED = {"max": "Max", "min": "Min", "sum": "Sum", "prod": "Product"}


def parameters(function):
    return function.parameter_list().replace("shmem_team_t", "nvshmem_team_t")


def define(mark, function, name, body):
    """A function with its sentence."""
    head = wrapped(f"{mark} {function.result} {name}({parameters(function)}) {{")
    return f"{comment(function.sentence)}\n{head}\n" + "\n".join(f"  {line}" for line in body) + "\n}"


def together(scope, call):
    """NVSHMEM's warps and blocks meet before and after each transfer; programs let a block put what its threads wrote."""
    meet = f"railshmem::device::compat::meet_{scope}();"
    return [meet, f"{call};", meet]


def by_scopes(function, call):
    """The forms of warps and blocks, `call` with the scope behind its name."""
    for scope in SCOPES:
        made = call.replace("(", f"_{scope}(", 1)
        body = together(scope, made) if function.entry.context else [f"return {made};"]
        yield define("RAILSHMEM_KERNEL_BODY", function, f"nvshmemx_{function.name}_{scope}", body)


def has_scopes(function):
    return function.entry.scopes and function.entry.nvshmem != ONE_THREAD


def plain(function):
    """(for every side, for kernels only)"""
    arguments = f"({function.arguments()})"
    if function.name.endswith("_on_stream"):
        return [define("RAILSHMEM_COMPAT_HOST", function, f"nvshmemx_{function.name}", [f"return {function.full_name()}{arguments};"])], []
    both = [define("RAILSHMEM_COMPAT_BOTH", function, f"nvshmem_{function.name}", [f"return {function.full_name()}{arguments};"])]
    return both, list(by_scopes(function, f"shmemx_{function.name}{arguments}")) if has_scopes(function) else []


def half_value(function, kind, mark, name):
    """p and g: the value travels as its bits."""
    stream = "_on_stream" if function.name.endswith("_on_stream") else ""
    prefix = "shmemx_" if stream else "shmem_"
    last = ", stream" if stream else ""
    if function.result == "void":
        body = ["uint16_t bits;", "memcpy(&bits, &value, sizeof bits);",
                f"{prefix}uint16_p{stream}(reinterpret_cast<uint16_t*>(dest), bits, pe{last});"]
    else:
        body = [f"const uint16_t bits = {prefix}uint16_g{stream}(reinterpret_cast<const uint16_t*>(source), pe{last});",
                f"{kind} value;", "memcpy((void*)&value, &bits, sizeof value);", "return value;"]
    return define(mark, function, name, body)


def half_reduction(function, kind):
    """The host's reductions are the library's, by their bits; those of kernels are CUDA's."""
    operation, run = re.fullmatch(rf"{kind}_(\w+)_(reduce|reducescatter)", function.name).groups()
    arguments = function.arguments()

    def in_kernel(scope):
        return f"railshmem::device::{run}_on<railshmem::compat::{REDUCED[operation]}, railshmem::device::{scope}>({arguments})"

    count = function.parameters[-1][1]
    host = f"shmemx_{function.name}(team, reinterpret_cast<uint16_t*>(dest), reinterpret_cast<const uint16_t*>(source), {count})"
    both = define("RAILSHMEM_COMPAT_BOTH", function, f"nvshmem_{function.name}",
                  [f"return RAILSHMEM_COMPAT_BY_SIDE(({in_kernel('ThreadScope')}),", f"    {host});"])
    return [both], [define("RAILSHMEM_KERNEL_BODY", function, f"nvshmemx_{function.name}_{scope}", [f"return {in_kernel(kind)};"])
                    for scope, kind in SCOPES.items()]


def half_reduction_on_stream(function, kind):
    """By a kernel of the program's own unit, since the library knows no such types. A template, lest every unit hold the
    kernels of all.
    """
    operation, run = re.fullmatch(rf"{kind}_(\w+)_(reduce|reducescatter)_on_stream", function.name).groups()
    return define("template <int kUnused = 0>\ninline", function, f"nvshmemx_{function.name}",
                  [f"return railshmem::compat::launch_reduction(railshmem::compat::{run}_by_block<railshmem::compat::{REDUCED[operation]},",
                   f"    {HALF[kind]}>, team, dest, source, nelems, stream);"])


def half(function, kind):
    """(for every side, for kernels only) of a form of float's with elements of 16 bits; None where NVSHMEM has none."""
    pattern, arguments = function.entry.pattern, function.arguments()
    on_stream = pattern.endswith("_on_stream")
    mark, name = ("RAILSHMEM_COMPAT_HOST", f"nvshmemx_{function.name}") if on_stream else ("RAILSHMEM_COMPAT_BOTH", f"nvshmem_{function.name}")
    if re.match(r"TYPE_[pg](_on_stream)?$", pattern):
        return [half_value(function, HALF[kind], mark, name)], []
    if re.match(r"TYPE_\w+_(reduce|reducescatter)$", pattern):
        return half_reduction(function, kind)
    if not pattern.startswith("{"):
        return None
    ours = "shmemx_" if on_stream else "shmem_"
    if function.parameters[0][0].startswith("shmem_team_t"):  # collectives: of uint16_t
        arguments = arguments.replace("dest, source", "(uint16_t*)dest, (const uint16_t*)source")
        target = function.name.replace(f"{kind}_", "uint16_", 1)
    else:
        target = re.sub(r"\{(\w+)\}", r"\g<1>16", pattern)
    both = [define(mark, function, name, [f"return {ours}{target}({arguments});"])]
    return both, list(by_scopes(function, f"shmemx_{target}({arguments})")) if has_scopes(function) else []


def add(parts, key, pair):
    both, kernels = pair
    parts.setdefault((key, "both"), []).extend(both)
    parts.setdefault((key, "kernels"), []).extend(kernels)


def collect(table):
    """{(file, guard): {(plain or half, both or kernels): [text]}}"""
    files = {}
    in_kernels = set(table.names("kernel"))
    for family in table.families:
        parts = files.setdefault(FILES.get(family["name"], family["name"]), {})
        for group in family["group"]:
            for entry in (e for e in group["entries"] if e.nvshmem):
                for function in table.c_functions(entry):
                    if entry.nvshmem == ONE_THREAD and function.row.kind != "typed":
                        continue
                    if function.with_context or (function.row.kind == "typed" and function.row.name not in in_kernels):
                        continue
                    add(parts, "plain", plain(function))
                for kind, of_cuda in HALF.items():
                    if function := table.as_type(entry, kind, of_cuda):
                        if re.match(r"TYPE_\w+_(reduce|reducescatter)_on_stream$", entry.pattern):
                            parts.setdefault(("kernel launch", "both"), []).append(half_reduction_on_stream(function, kind))
                        elif pair := half(function, kind):
                            add(parts, "half", pair)
    return {name: parts for name, parts in files.items() if parts}


def section(guard, texts):
    text = "\n".join(texts)
    return f"#if {guard}\n{text}\n#endif" if guard else text


def outputs(table):
    guards = {("plain", "both"): "", ("plain", "kernels"): "defined(RAILSHMEM_KERNEL_NAMES)",
              ("half", "both"): "defined(RAILSHMEM_COMPAT_HALF)",
              ("half", "kernels"): "defined(RAILSHMEM_COMPAT_HALF) && defined(RAILSHMEM_KERNEL_NAMES)",
              ("kernel launch", "both"): "defined(RAILSHMEM_COMPAT_HALF) && defined(__CUDACC__)"}
    out = {}
    for name, parts in collect(table).items():
        body = "\n\n".join(section(guard, parts[key]) for key, guard in guards.items() if parts.get(key))
        own = {"reduce": '#include "nvshmem/half_operators.h"\n', "stream": '#include "nvshmem/half_kernels.h"\n'}.get(name, "")
        out[f"include/compat/nvshmem/{name}.h"] = header(f"RAILSHMEM_COMPAT_NVSHMEM_{name.upper()}_H", ABOUT[name],
                                                          f'#include "nvshmem/constants.h"\n{own}\n{body}')
    return out
