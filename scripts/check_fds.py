#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds descriptors that could stay 0, 1 or 2: where the program was started with one of these closed, the next system
call that makes a descriptor gets that number, and what the program prints goes into it.

A call that makes a descriptor stands inside UniqueFd(...), which moves it (src/base/unique.h). What opens a file in some
other way, or makes two descriptors, is a function of src/base/fds.h.
  scripts/check_fds.py [ROOT]"""
import pathlib
import re
import subprocess
import sys

FOLDERS = ("src", "bootstrap", "transports", "overlap", "moe", "python/src")
SUFFIXES = (".cpp", ".h", ".cu", ".cuh", ".c")

# Bare names that are system calls wherever they stand.
MAKERS = ("openat", "openat2", "open64", "creat", "socket", "accept", "accept4", "memfd_create", "memfd_secret", "dup", "eventfd",
          "epoll_create", "epoll_create1", "timerfd_create", "signalfd", "inotify_init", "inotify_init1", "fanotify_init",
          "shm_open", "mkstemp", "mkostemp", "mkstemps", "mkostemps", "mq_open", "perf_event_open", "pidfd_open", "pidfd_getfd",
          "userfaultfd", "posix_openpt")
NUMBERS = ("open", "openat", "openat2", "socket", "accept", "accept4", "memfd_create", "memfd_secret", "dup", "eventfd", "eventfd2",
           "epoll_create", "epoll_create1", "timerfd_create", "signalfd", "signalfd4", "inotify_init1", "pidfd_open", "pidfd_getfd",
           "perf_event_open", "userfaultfd", "io_uring_setup", "pipe", "pipe2", "socketpair")
# `open` and `accept` are also names of our own functions: these are the system's.
OPEN = r"(?:(?<![\w.>:])::open\s*\(|(?<![\w.>:])open\s*\((?=[^;]*?(?:\bO_[A-Z]+|\bk[A-Z]\w*|\bkept\b|\bflags\b)))"
MAKER = re.compile("|".join([
    OPEN,
    r"(?<![\w.>])(?:::)?\b(?:" + "|".join(MAKERS) + r")\s*\((?!\s*\))",
    r"\bfcntl\s*\([^;]*?F_DUPFD\w*",
    r"\b(?:syscall|raw)\s*\(\s*(?:SYS|__NR)_(?:" + "|".join(NUMBERS) + r")\b",
]))
# Never: there is a function of src/base/fds.h, or the number is not the caller's choice.
HIDDEN = re.compile(r"(?<![\w.>])(?:::)?\b(?:pipe2?|socketpair|fopen|fopen64|freopen|fdopen|tmpfile|popen|opendir|dup2|dup3)\s*\(|"
                    r"\bstd::[io]?fstream\b|\b(?:recursive_)?directory_iterator\b")
OWNED = re.compile(r"UniqueFd(?:\s+\w+)?\s*[({]\s*(?:static_cast<int>\s*\(\s*)?$")

ALLOWED = {
    # file: (call, why); every entry must be needed
    ("src/base/fds.cpp", "pipe2"): "make_pipe()",
    ("src/base/fds.cpp", "socketpair"): "make_socket_pair()",
    ("src/base/fds.cpp", "open"): "StandardPlaceholders: it is to be one of 0 to 2",
    ("src/base/unique.h", "fcntl"): "above_standard()",
    ("src/globals/task_list.cpp", "raw"): "other threads are held and this one must not allocate; closed before they run on",
    ("src/globals/fork_guard.cpp", "raw"): "in handlers of fork(), where globals must not be written; closed before fork() returns",
    ("transports/ofi/memory_monitor.cpp", "syscall"): "a lambda whose result goes into UniqueFd",
    ("bootstrap/local/oshrun/spawn.cpp", "dup2"): "what a PE shall have as 0 to 2",
    ("bootstrap/local/oshrun/relay.cpp", "dup2"): "what a PE shall have as 0 to 2",
    ("bootstrap/local/oshrun/remote.cpp", "dup2"): "what ssh shall have as 0 to 2",
}


def blanked(source):
    """The code without comments and strings, at the same places."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)


def is_declaration(code, start):
    """Whether a type stands before the name: `int open(...)`, `UniqueFd accept(...)`."""
    before = code[:start].rstrip()
    if not re.search(r"[\w>*&]$", before) or before.endswith(("return", "else", "co_return")):
        return False
    return not before.endswith("&&") and (code[start - 1].isspace() or before[-1] in "*&")


def name_of(call):
    return re.match(r"(?:::|std::)?\s*(\w+)", call.strip()).group(1)


def problems(path, source, used):
    code = blanked(source)
    for pattern, advice in ((MAKER, "put it into UniqueFd(...), which keeps it out of 0 to 2"),
                            (HIDDEN, "use a function of src/base/fds.h")):
        for found in pattern.finditer(code):
            if is_declaration(code, found.start()) or (pattern is MAKER and OWNED.search(code[:found.start()])):
                continue
            key = (path, name_of(found.group()))
            if key in ALLOWED:
                used.add(key)
                continue
            line = code.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}: {name_of(found.group())} makes a descriptor: {advice}"


def self_test():
    """Both kinds are found, and both ways out are seen."""
    bad = ("int a = socket(1, 2, 3);", "fd_ = ::open(p, m);", "x(open(name, O_RDONLY));", "fcntl(fd, F_DUPFD_CLOEXEC, 0);",
           "std::ifstream file(p);", "pipe2(e, 0);", "auto f = fopen(p, m);", "int e = eventfd(0, 0);", "return accept4(l, 0, 0, 0);",
           "syscall(SYS_pidfd_open, 1, 0)", "DIR* d = opendir(p);", "dup2(a, 1);", "int s = dup(1);")
    good = ("UniqueFd a(socket(1, 2, 3));", "fd_ = UniqueFd(::open(p, m));", "UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, 1)))",
            "int open(const Range& r);", "stream.open()", "// socket(1)", 'say("open(O_RDONLY)");', "jobs_->accept(r, f)",
            "while (open() && x)", "void* const library = open();")
    for code in bad:
        assert list(problems("x.cpp", code, set())), code
    for code in good:
        assert not list(problems("x.cpp", code, set())), code


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    self_test()
    names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", *FOLDERS], capture_output=True, text=True, check=False)
    paths = names.stdout.split() if names.returncode == 0 else [
        str(p.relative_to(root)) for folder in FOLDERS for p in (root / folder).rglob("*")]
    found, used = [], set()
    for path in sorted(p for p in paths if p.endswith(SUFFIXES) and (root / p).is_file()):
        found += problems(path, (root / path).read_text(encoding="utf-8"), used)
    found += [f"scripts/check_fds.py: {path} has no {call} any more" for path, call in sorted(set(ALLOWED) - used)]
    print("\n".join([*found, f"check_fds: {len(found)} problems"]))
    sys.exit(1 if found else 0)


main()
