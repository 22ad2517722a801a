#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a library has state of the process outside `Process` (src/base/process.h).

usage: process_state.py OBJDUMP LIBRARY...

Reads the symbol tables: a variable of namespace scope or a static one, of a function or a class, is a symbol in a section that can be
written to. Constants are in other sections. State of a thread is allowed where its name says so (t_...).
"""
import re
import subprocess
import sys

STATE = "railshmem::g_process"
THREAD_STATE = re.compile(r"(.*::)?t_\w+$")

# What else may be there, and why.
ALLOWED = {
    r"std::__ioinit": "the C++ library's, for <iostream>",
    r"completed\.\d+|__TMC_END__|__dso_handle|DW\.ref\..*|__cpu_model|__cpu_features2": "the compiler's",
    r"(__odr_asan|__asan|__tsan|__ubsan|__sanitizer|__llvm_|__gcov|__start_|__stop_).*": "the sanitizers'",
    r"railshmem::ofi::kPageBytes": "a constant: the size of a page, found when the library is loaded",
    r"railshmem::overlap::(lt::library|driver)\(\)::calls":
        "constants: the functions of another library, found at the first use",
}


def symbols(objdump, library):
    """(name, section) of variables and functions; objdump prints: address, seven flags, section, tab, size, visibility, name."""
    text = subprocess.run([objdump, "--syms", "--demangle", library], capture_output=True, text=True, check=True).stdout
    line = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+ +(?:\.hidden |\.protected |\.internal )?(.*)$")
    for found in filter(None, map(line.match, text.splitlines())):
        flags, section, name = found.groups()
        if flags[5] != "d":
            yield re.sub(r"^guard variable for | ?\[clone .*\]|\.lto_priv\.\d+", "", name), section


def check(objdump, library):
    all_of_it = list(symbols(objdump, library))
    if not all_of_it:
        yield f"{library} has no table of symbols; was it stripped?"
        return
    uses_base = any(name == STATE for name, _ in all_of_it)
    for name, section in all_of_it:
        if re.match(r"\.(tdata|tbss)\b", section):
            if not THREAD_STATE.match(name):
                yield f"{library}: {name} is state of a thread; call it t_..."
        elif re.match(r"\.l?(data|bss)\b", section) and not section.startswith(".data.rel.ro"):
            if name != STATE and name != section and not any(re.fullmatch(known, name) for known in ALLOWED):
                yield f"{library}: {name} is state of the process; make it a member of Process (src/base/process.h)"
    if not uses_base and any(name.startswith("railshmem::log_") for name, _ in all_of_it):
        yield f"{library}: {STATE} was not found; does this script still know its name?"


def main():
    objdump, *libraries = sys.argv[1:]
    problems = [problem for library in libraries for problem in check(objdump, library)]
    for problem in problems:
        print(problem)
    print(f"process_state: {len(libraries)} libraries, {len(problems)} problems")
    return 1 if problems or not libraries else 0


if __name__ == "__main__":
    sys.exit(main())
