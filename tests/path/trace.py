# SPDX-License-Identifier: BSD-3-Clause
"""Runs in gdb: runs the program and writes the stacks of its operations to the file $PATH_STACKS, one JSON object a line:
{"path": name, "frames": [[function, file], ...]}, the outermost function first. show_path.py reads them.

$PATH_WANTED has a line for each path: its name, a regular expression for its first function, and its last function. A
stack is written whenever the last function begins, below the first one.
"""
import json
import os
import re

import gdb

OUT = os.environ["PATH_STACKS"]
ROOT = os.environ["PATH_ROOT"] + "/"
PROGRAM = gdb.current_progspace().filename


def file_of(frame):
    """The file whose function this is, from the root of the repository; None for other people's functions. A function of
    ours that was compiled without line numbers shows its library, so that it is not overlooked.
    """
    where = frame.find_sal().symtab
    function = frame.function()
    # With g++ 14 a function of a header may begin at a line of its caller.
    if where and function and where.filename.endswith(".cpp") and function.symtab.filename.endswith(".h"):
        where = function.symtab
    file = os.path.realpath(where.fullname() if where else gdb.current_progspace().solib_name(frame.pc()) or PROGRAM)
    if generated := re.search(r"/generated/((?:src|include)/.*)", file):  # of the build folder
        return generated[1]
    return file[len(ROOT):] if file.startswith(ROOT) else None


def frames_from(frame):
    """From the innermost function outwards. The compiler's notes tell gdb of inlined functions, so they are frames too."""
    while frame is not None and frame.is_valid():
        yield frame.name() or "?", file_of(frame)
        frame = frame.older()


class Last(gdb.Breakpoint):
    """Where the last function of a path begins."""

    def __init__(self, path, first, last):
        super().__init__(last, internal=True)
        self.path, self.first = path, re.compile(first)

    def stop(self):
        """Never stops the program."""
        found = []
        for name, file in frames_from(gdb.newest_frame()):
            found.append((name, file))
            if file is not None and self.first.search(name):
                with open(OUT, "a", encoding="utf-8") as out:
                    print(json.dumps({"path": self.path, "frames": found[::-1]}), file=out)
                break
        return False


for setting in ("confirm off", "breakpoint pending on", "print thread-events off", "python print-stack full"):
    gdb.execute("set " + setting)
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("handle SIGTRAP stop", to_string=True)
for wanted in os.environ["PATH_WANTED"].splitlines():
    Last(*wanted.split())
gdb.execute("run")
