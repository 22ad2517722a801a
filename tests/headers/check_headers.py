#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles each installed header alone in the oldest standard, all of them in each later one, and the sources beside this
file in every standard, with warnings as errors.

    check_headers.py --include build/release/include [--cc gcc] [--cxx g++] ...

A compiler that is not there is reported as skipped; at least one C and one C++ compiler must be there. Code is only
checked, not generated, except by nvcc, which has no such mode.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
C_STANDARDS = ["c99", "c11", "c17"]
CXX_STANDARDS = ["c++17", "c++20"]
GENERIC_STANDARDS = ["c11", "c17"]

# Must not compile in C11 and C++: a type outside the family's table, a wrong pointer, an integer as a context. Behind each
# what the message of C11 must say besides the name of the generic; None: what the compiler says by itself.
REFUSED = [
    ("void f(void* p) { shmem_put(p, p, 1, 0); }", "pointers to float, double, int, long, long long, unsigned int, .*char, "),
    ("void f(void* p) { shmem_p(SHMEM_CTX_DEFAULT, p, 1, 0); }", "pointers to float, double, int, .* long double, and to nothing else"),
    ("void f(float* p) { shmem_atomic_add(p, 1, 0); }", "pointers to int, long, .*unsigned long long, and to nothing else"),
    ("void f(short* p) { shmem_atomic_fetch(p, 0); }", "pointers to float, double, int, "),
    ("void f(long double* p) { shmem_wait_until(p, SHMEM_CMP_EQ, 1); }", "pointers to int, .*short, unsigned short, and"),
    ("void f(float* p) { shmem_wait_until_any(p, 1, 0, SHMEM_CMP_EQ, 1); }", "pointers to int, .*short, unsigned short, and"),
    ("void f(double* p) { shmem_atomic_fetch_or(p, 1, 0); }", "pointers to unsigned int, .*int64_t, and"),
    ("void f(int* p) { shmem_put(3, p, p, 1, 0); }", "pointers to float, "),
    ("void f(int* p) { shmem_put(SHMEM_TEAM_WORLD, p, p, 1, 0); }", "pointers to float, "),
    ("void f(int* p, double* q) { shmem_put(p, q, 1, 0); }", None),
    ("void f(double* p) { shmem_and_reduce(SHMEM_TEAM_WORLD, p, p, 1); }", "pointers to unsigned char, "),
    ("void f(int* p, double* q) { shmem_sum_reduce(SHMEM_TEAM_WORLD, p, q, 1); }", None),
    ("void f(double _Complex* p) { shmem_max_reduce(SHMEM_TEAM_WORLD, p, p, 1); }", "pointers to float, .*long double, and"),
    ("void f(int* p) { shmem_sum_inscan(p, p, 1); }", None),
    ("void f(void* p) { shmem_sum_inscan(SHMEM_TEAM_WORLD, p, p, 1); }", "pointers to .*double _Complex, and"),
    ("void f(float* p) { shmem_finc(p, 0); }", "pointers to int, long, long long, and"),
]


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def check(job):
    """Runs one job (what, command, text, should_pass, message); returns what went wrong, or None."""
    what, command, text, should_pass, message = job
    done = run(command, text)
    if (done.returncode == 0) == should_pass:
        if not message or re.search(message, done.stderr):
            return None
        return f"FAIL {what}: nothing in the message matches '{message}'\n{done.stderr[:2000]}"
    return f"FAIL {what}: {'does not compile' if should_pass else 'compiles and should not'}\n{done.stderr[:2000]}"


def jobs_for(compiler, language, standards, options, headers):
    base = [compiler, *WARNINGS, *(["-Wshadow"] if language == "c++" else []), "-fsyntax-only", f"-I{options.include}", f"-I{options.include}/compat"]
    suffix = "c" if language == "c" else "cpp"
    for standard in standards:
        stdin = base + [f"-std={standard}", "-x", language, "-"]
        alone = [[header] for header in headers] if standard == standards[0] else [headers]
        for included in alone:
            twice = "".join(f"#include <{header}>\n" for header in included * 2) + "extern int not_empty;\n"
            what = included[0] if len(included) == 1 else "all headers"
            yield f"{what} {compiler} {standard}", stdin, twice, True, None
        sources = [HERE / "use_c.c", HERE / "bindings.c"]
        if language == "c++":
            sources.append(HERE / "use_cpp.cpp")
        elif standard in GENERIC_STANDARDS:
            sources.append(HERE / "generics.c")
        for source in sources:
            command = base + [f"-std={standard}", "-x", language, str(source)]
            yield f"{source.name} {compiler} {standard}", command, None, True, None
    for snippet, says in REFUSED:
        name = re.search(r"shmem_\w+(?=\()", snippet).group(0)
        message = f"{name} has no function for .*{says}" if says and language == "c" else None
        yield f"{snippet} {compiler} {suffix}", stdin, f"#include <shmem.h>\n{snippet}\n", False, message


def main():
    parser = argparse.ArgumentParser(description="Checks that the installed headers compile.")
    parser.add_argument("--include", required=True, help="directory of the installed headers")
    parser.add_argument("--cc", nargs="*", default=["gcc", "clang"])
    parser.add_argument("--cxx", nargs="*", default=["g++", "clang++"])
    parser.add_argument("--nvcc", default="nvcc")
    options = parser.parse_args()
    options.include = str(pathlib.Path(options.include).resolve())

    root = pathlib.Path(options.include)
    # Those in nvrtc/ replace the standard library's, which nvrtc lacks: nvrtc_compile.cpp has them.
    headers = sorted(str(path.relative_to(root)) for path in root.rglob("*.h") if path.parent.name != "nvrtc")
    # the C11 selections and the C++ overloads are each for one language; shmem.h picks
    only_c = {h for h in headers if h.startswith("shmem/generic/") and not h.endswith(("generic.h", "cpp.h"))}
    # what kernels share with the library is C++, like the kernels, and so are programs for NVSHMEM
    only_cxx = {h for h in headers if h.startswith(("shmem/detail/", "shmem/device/", "compat/")) or h == "shmem/generic/cpp.h"}

    jobs, found = [], {"c": 0, "c++": 0}
    for language, compilers, standards, hidden in (("c", options.cc, C_STANDARDS, only_cxx),
                                                   ("c++", options.cxx, CXX_STANDARDS, only_c)):
        usable = [h for h in headers if h not in hidden]
        for compiler in compilers:
            if not shutil.which(compiler):
                print(f"skipped: no {compiler}")
                continue
            found[language] += 1
            jobs += jobs_for(compiler, language, standards, options, usable)
    with tempfile.TemporaryDirectory() as scratch:
        if shutil.which(options.nvcc):
            command = [options.nvcc, "-std=c++17", "-Werror", "all-warnings", f"-I{options.include}", "-c",
                       str(HERE / "use_cuda.cu"), "-o", os.path.join(scratch, "use_cuda.o")]
            jobs.insert(0, (f"use_cuda.cu {options.nvcc}", command, None, True, None))
        else:
            print(f"skipped: no {options.nvcc}")
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            failures = [failure for failure in pool.map(check, jobs) if failure]

    print("\n".join(failures))
    print(f"{len(headers)} headers, {len(jobs)} compilations, {len(failures)} failed")
    if not all(found.values()):
        print("FAIL no C or no C++ compiler")
    return 1 if failures or not all(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
