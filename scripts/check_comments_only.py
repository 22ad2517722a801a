#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Says whether only comments of C, C++ and CUDA sources differ from a commit.

usage: check_comments_only.py COMMIT [FILE...]     all changed sources where no file is named

Removes the comments of both versions, then compares all that is not white space. Exit 1: code differs.
"""
import re
import subprocess
import sys

SOURCE = re.compile(r"\.(c|h|cpp|cu|cuh|inc)$")
# Strings and characters are kept, so that // in a text is no comment.
PIECES = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.S)


def code_of(text):
    without = PIECES.sub(lambda piece: " " if piece[0].startswith(("//", "/*")) else piece[0], text)
    return re.sub(r"[\s\\]+", "", without)


def git(*words):
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    commit = sys.argv[1]
    files = sys.argv[2:] or [name for name in git("diff", "--name-only", commit).split() if SOURCE.search(name)]
    bad = 0
    for name in files:
        with open(name, encoding="utf-8") as file:
            now = file.read()
        if code_of(git("show", f"{commit}:{name}")) != code_of(now):
            bad += 1
            print(f"{name}: code differs from {commit}")
    print(f"check_comments_only: {len(files)} files, {bad} with other code")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
