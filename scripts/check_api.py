#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the installed headers, and a built library, with the names that OpenSHMEM 1.6 asks for.

    check_api.py --include build/release/include                         headers only
    check_api.py --include build/release/include --library librailshmem.so   exported symbols too
    check_api.py --list                                    print the names of the standard, one a line
    check_api.py --include build/release/include --reference FILE        compare prototypes with a file of one prototype a line

The names come from one table, FAMILIES, below. Exit status 1 means that something is missing or too many.
"""
import argparse
import re
import subprocess
import sys

import api_generics

MILESTONE = 2  # the families up to this number must be declared and exported
TOTAL = 1788  # C names of OpenSHMEM 1.6; guards the table itself

# Type names (section 3 of the standard's tables). Each collective table extends the one before it.
AMO = "int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff".split()
EXTENDED = ["float", "double"] + AMO
BITWISE = "uint ulong ulonglong int32 int64 uint32 uint64".split()
RMA = EXTENDED + "longdouble char schar short uchar ushort int8 int16 uint8 uint16".split()
OLD_P2P = ["short", "ushort"]
OLD_AMO = ["int", "long", "longlong"]
OLD_EXTENDED = ["float", "double"] + OLD_AMO
OLD_WAIT = ["short"] + OLD_AMO
REDUCE_BITS = ("uchar ushort uint ulong ulonglong int8 int16 int32 int64 uint8 uint16 uint32 uint64 size").split()
REDUCE_ORDER = REDUCE_BITS + "char schar short int long longlong ptrdiff float double longdouble".split()
REDUCE_SUM = REDUCE_ORDER + ["complexd", "complexf"]
TO_ALL_BITS = ["short"] + OLD_AMO
TO_ALL_ORDER = TO_ALL_BITS + ["float", "double", "longdouble"]
TO_ALL_SUM = TO_ALL_ORDER + ["complexd", "complexf"]
SIZES = ["8", "16", "32", "64", "128"]
ONE = [""]

CTX = ["", "ctx_"]
NO_CTX = [""]
NBI = ["", "_nbi"]

# What a library may export beyond the names of the standard and their twins.
EXTENSIONS = ["shmemx_init_attr", "shmemx_get_uniqueid", "shmemx_set_attr_uniqueid_args",
              "shmemx_build_options", "shmemx_describe_environment", "shmemx_describe_rails", "shmemx_buffer_register",
              "shmemx_buffer_unregister", "shmemx_buffer_unregister_all", "shmemx_malloc_host", "shmemx_attach_device"]
EXTENSIONS += ["shmemx_team_get_uniqueid", "shmemx_team_init", "shmemx_team_agree"]
EXTENSIONS += ["shmemx_buffer_register_symmetric", "shmemx_buffer_unregister_symmetric"]
EXTENSIONS += ["shmemx_coll_on_stream", "shmemx_coll_explain", "shmemx_fcollectmem_pieces_on_stream",
               "shmemx_reducescatter_pieces_on_stream", "shmemx_topology_get"]
EXTENSIONS += ["shmemx_coll_register", "shmemx_coll_deregister", "shmemx_mem_alloc", "shmemx_mem_free"]
EXTENSIONS += [f"shmemx_cu{kind}_{w}" for kind in ("module", "library") for w in ("init", "finalize")]
EXTENSIONS += [f"shmemx_{t}_{w}_{m}{v}" for t in OLD_P2P for w in ("wait_until", "test") for m in ("all", "any", "some")
               for v in ("", "_vector")]
NO_KERNEL = ["longdouble"]  # what GPUs do not compute with
IN_KERNELS = [t for t in RMA if t not in NO_KERNEL]
STREAM = [f"{t}_{w}" for t in RMA for w in ("put", "get", "put_nbi", "get_nbi", "put_signal", "put_signal_nbi", "broadcast",
                                            "fcollect", "alltoall")]
STREAM += [f"{w}{b}{n}" for b in SIZES for w in ("put", "get") for n in NBI]
STREAM += [f"put{b}_signal{n}" for b in SIZES for n in NBI]
STREAM += [f"{t}_{w}" for t in RMA for w in ("iput", "iget")] + [f"{w}{b}" for b in SIZES for w in ("iput", "iget")]
STREAM += [f"{t}_p" for t in IN_KERNELS] + [f"{t}_g" for t in RMA] + [f"{t}_wait_until{w}" for t in AMO + OLD_P2P for w in ("", "_all", "_all_vector")]
STREAM += [f"{t}_{w}_{r}" for t in REDUCE_BITS for w in ("and", "or", "xor") for r in ("reduce", "reducescatter")]
STREAM += [f"{t}_{w}_{r}" for t in IN_KERNELS for w in ("max", "min", "sum", "prod") for r in ("reduce", "reducescatter")]
STREAM += ("putmem getmem putmem_nbi getmem_nbi putmem_signal putmem_signal_nbi broadcastmem fcollectmem alltoallmem signal_op "
           "signal_wait_until quiet barrier_all barrier sync_all team_sync").split()
EXTENSIONS += [f"shmemx_{name}_on_stream" for name in STREAM]
EXTENSIONS += [f"shmemx_{t}_{w}_reducescatter" for t in REDUCE_BITS for w in ("and", "or", "xor")]
EXTENSIONS += [f"shmemx_{t}_{w}_reducescatter" for t in REDUCE_ORDER for w in ("max", "min")]
EXTENSIONS += [f"shmemx_{t}_{w}_reducescatter" for t in REDUCE_SUM for w in ("sum", "prod")]
EXTENSIONS += [f"shmemx_{t}_{w}_{r}" for t in ("half", "bfloat16") for w in ("max", "min", "sum", "prod")
               for r in ("reduce", "reducescatter")]
EXTENSION_PREFIX = "shmemx_"
# Called by the installed headers, not by programs: exported, and declared outside shmemx.h.
INTERNAL = ["shmemx_device_view_register", "shmemx_device_view_unregister"]

# (milestone, contexts, types, pattern with {t} for the type, the words for {w})
FAMILIES = [
    (1, NO_CTX, ONE, "shmem_{w}", "init query_initialized finalize global_exit init_thread query_thread my_pe n_pes "
                                  "pe_accessible addr_accessible ptr info_get_version info_get_name pcontrol"),
    (1, NO_CTX, ONE, "shmem_{w}", "malloc free realloc align calloc malloc_with_hints"),
    (1, CTX, RMA, "shmem_{c}{t}_{w}", "put get put_nbi get_nbi p g iput iget ibput ibget put_signal put_signal_nbi"),
    (1, CTX, SIZES, "shmem_{c}{w}{t}", "put get iput iget ibput ibget"),
    (1, CTX, SIZES, "shmem_{c}{w}{t}_nbi", "put get"),
    (1, CTX, SIZES, "shmem_{c}put{t}_{w}", "signal signal_nbi"),
    (1, CTX, ONE, "shmem_{c}{w}", "putmem getmem putmem_nbi getmem_nbi putmem_signal putmem_signal_nbi"),
    (1, CTX, ONE, "shmem_{c}{w}", "signal_add signal_set"),
    (1, NO_CTX, ONE, "shmem_{w}", "signal_fetch signal_wait_until"),
    (1, CTX, AMO, "shmem_{c}{t}_atomic_{w}", "compare_swap fetch_inc inc fetch_add add compare_swap_nbi fetch_inc_nbi "
                                             "fetch_add_nbi"),
    (1, CTX, EXTENDED, "shmem_{c}{t}_atomic_{w}", "fetch set swap fetch_nbi swap_nbi"),
    (1, CTX, BITWISE, "shmem_{c}{t}_atomic_{w}", "fetch_and and fetch_or or fetch_xor xor fetch_and_nbi fetch_or_nbi "
                                                 "fetch_xor_nbi"),
    (1, NO_CTX, AMO + OLD_P2P, "shmem_{t}_{w}", "wait_until test"),
    (1, NO_CTX, AMO, "shmem_{t}_wait_until_{w}", "all any some all_vector any_vector some_vector"),
    (1, NO_CTX, AMO, "shmem_{t}_test_{w}", "all any some all_vector any_vector some_vector"),
    (1, CTX, ONE, "shmem_{c}{w}", "fence quiet pe_quiet"),
    (1, NO_CTX, ONE, "shmem_{w}", "barrier_all sync_all"),
    (1, NO_CTX, ONE, "{w}", "start_pes _my_pe _num_pes shmalloc shfree shrealloc shmemalign"),
    (1, NO_CTX, ONE, "shmem_{w}", "wait wait_until"),
    (1, NO_CTX, OLD_WAIT, "shmem_{t}_{w}", "wait"),
    (1, NO_CTX, OLD_AMO, "shmem_{t}_{w}", "cswap finc inc fadd add"),
    (1, NO_CTX, OLD_EXTENDED, "shmem_{t}_{w}", "fetch set swap"),
    (2, NO_CTX, ONE, "shmem_team_{w}", "my_pe n_pes get_config translate_pe split_strided split_2d destroy ptr sync"),
    (2, NO_CTX, ONE, "shmem_{w}", "ctx_create team_create_ctx ctx_destroy ctx_get_team"),
    (2, NO_CTX, ONE, "shmem_ctx_session_{w}", "start stop"),
    (2, NO_CTX, RMA, "shmem_{t}_{w}", "alltoall alltoalls broadcast collect fcollect"),
    (2, NO_CTX, ONE, "shmem_{w}mem", "alltoall alltoalls broadcast collect fcollect"),
    (2, NO_CTX, REDUCE_BITS, "shmem_{t}_{w}_reduce", "and or xor"),
    (2, NO_CTX, REDUCE_ORDER, "shmem_{t}_{w}_reduce", "max min"),
    (2, NO_CTX, REDUCE_SUM, "shmem_{t}_{w}_reduce", "sum prod"),
    (2, NO_CTX, REDUCE_SUM, "shmem_{t}_sum_{w}", "inscan exscan"),
    (2, NO_CTX, ONE, "shmem_{w}_lock", "set clear test"),
    (2, NO_CTX, ONE, "shmem_{w}", "barrier sync"),
    (2, NO_CTX, ["32", "64"], "shmem_{w}{t}", "alltoall alltoalls broadcast collect fcollect"),
    (2, NO_CTX, TO_ALL_BITS, "shmem_{t}_{w}_to_all", "and or xor"),
    (2, NO_CTX, TO_ALL_ORDER, "shmem_{t}_{w}_to_all", "max min"),
    (2, NO_CTX, TO_ALL_SUM, "shmem_{t}_{w}_to_all", "sum prod"),
]


def standard_names():
    """The names of the standard, each with the milestone that brings it."""
    names = {}
    for milestone, contexts, types, pattern, words in FAMILIES:
        for context in contexts:
            for type_name in types:
                for word in words.split():
                    name = pattern.format(c=context, t=type_name, w=word)
                    if name in names:
                        sys.exit(f"check_api: the table gives {name} twice")
                    names[name] = milestone
    if len(names) != TOTAL:
        sys.exit(f"check_api: the table gives {len(names)} names, the standard has {TOTAL}")
    return names


def prototypes(text):
    """Function prototypes in preprocessed C: name -> prototype without attributes and needless blanks."""
    found = {}
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\b_Noreturn\b|\bextern\b", " ", text)
    for statement in text.split(";"):
        match = re.fullmatch(r"\s*([\w\s*]+?)\b(\w+)\s*\(([^()]*)\)\s*", statement)
        if match:
            result, name, parameters = match.groups()
            found[name] = tidy(f"{result} {name}({parameters})")
    return found


def tidy(prototype):
    prototype = " ".join(prototype.split())
    return re.sub(r"\s*([*(),])\s*", r"\1", prototype)


def declared(include, header, compiler):
    command = [compiler, "-std=c99", "-E", "-P", f"-I{include}", "-x", "c", "-"]
    done = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"check_api: {' '.join(command)} failed:\n{done.stderr}")
    return prototypes(done.stdout)


def exported(library, nm):
    done = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"check_api: {nm} cannot read {library}:\n{done.stderr}")
    # a version node of the linker is an absolute symbol, not an export
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[-1].split("@")[0] for row in rows if row and row[-2] != "A"}


class Report:
    def __init__(self):
        self.failed = False

    def expect_none(self, what, names):
        names = sorted(names)
        if names:
            self.failed = True
            print(f"FAIL {len(names)} {what}: {' '.join(names[:20])}{' ...' if len(names) > 20 else ''}")


def main():
    parser = argparse.ArgumentParser(description="Checks headers and library against the names of OpenSHMEM 1.6.")
    parser.add_argument("--include", help="directory of the installed headers")
    parser.add_argument("--library", help="shared library whose exports to check")
    parser.add_argument("--reference", help="file of prototypes, one a line, to compare declarations with")
    parser.add_argument("--milestone", type=int, default=MILESTONE, help="families up to this one are required")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--list", action="store_true", help="print the names of the standard and stop")
    options = parser.parse_args()

    names = standard_names()
    if options.list:
        print("\n".join(sorted(names)))
        return 0
    if not options.include:
        parser.error("--include is needed")

    report = Report()
    required = {name for name, milestone in names.items() if milestone <= options.milestone}
    plain = declared(options.include, "shmem.h", options.cc)
    profiled = declared(options.include, "pshmem.h", options.cc)
    api = {name for name in plain if re.match(r"shmem_", name) or name in names}

    print(f"headers: {len(api & set(names))} of {len(names)} present, {len(required)} required by milestone "
          f"{options.milestone}")
    report.expect_none("required names not declared in shmem.h", required - api)
    report.expect_none("names in shmem.h that the standard lacks", api - set(names))
    report.expect_none("names without a twin in pshmem.h", {name for name in api if "p" + name not in profiled})
    report.expect_none("twins in pshmem.h whose parameters differ",
                       {name for name in api if "p" + name in profiled
                        and profiled["p" + name].replace(f"p{name}(", f"{name}(") != plain[name]})
    extended = declared(options.include, "shmemx.h", options.cc)
    extensions = {name for name in extended if name.startswith(EXTENSION_PREFIX)}
    report.expect_none("extensions declared but not in the table, or the reverse", extensions ^ set(EXTENSIONS))

    if options.reference:
        with open(options.reference, encoding="utf-8") as lines:
            reference = prototypes(lines.read())
        report.expect_none("names of the reference not in the table, or the reverse", set(reference) ^ set(names))
        report.expect_none("prototypes that differ from the reference",
                           {name for name in api & set(reference) if plain[name] != reference[name]})

    every_type = set(REDUCE_SUM) | set(RMA) | set(AMO)
    calls, problems = api_generics.check(options.include, options.cc,
                                         {name: plain[name] for name in api & set(names)}, every_type)
    print(f"generics: {calls} calls of {len({api_generics.generic_of(n, every_type) for n in api} - {None})} generics compile")
    report.expect_none("faults of the generics", problems)

    if options.library:
        symbols = exported(options.library, options.nm)
        print(f"library: {len(symbols & set(names))} of {len(names)} exported, "
              f"{len(symbols & {'p' + name for name in names})} twins")
        expected = api | required
        report.expect_none("declared names not exported", expected - symbols)
        report.expect_none("twins not exported", {"p" + name for name in expected} - symbols)
        report.expect_none("extensions not exported", set(EXTENSIONS + INTERNAL) - symbols)
        report.expect_none("names exported that no header declares",
                           symbols - expected - {"p" + name for name in expected} - set(EXTENSIONS + INTERNAL))

    print("FAIL" if report.failed else "ok")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
