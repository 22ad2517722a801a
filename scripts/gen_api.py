#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what is made from the tables of the API and of the environment: headers, entry points, lists for tests, and
the pages of the reference.

    gen_api.py FOLDER     writes include/, src/, tests/ and docs/ below FOLDER; a file that is as it should be stays untouched
    gen_api.py --check    writes nothing; exit 1 when two runs differ or a function has no documentation

CMake runs it when it configures, with FOLDER generated/ of the build folder. Python 3.9 or newer; standard library only.
"""
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/api"))
import compat
import declarations
import entries
import environment
import generics
import kernels
import lists
import model
import reference
import tables

EMITTERS = (declarations, kernels, generics, compat, entries, tables, reference, environment)


def outputs():
    """{path below FOLDER: text}"""
    table, wanted = model.Table(), {}
    for emitter in EMITTERS:
        wanted.update(emitter.outputs(table))
    return wanted


def write(folder):
    """Removes files of an earlier run that are no longer written; a file with the right text keeps its time."""
    wanted = outputs()
    for top in sorted({path.split("/")[0] for path in wanted}):
        for old in (folder / top).rglob("*"):
            if old.is_file() and old.relative_to(folder).as_posix() not in wanted:
                old.unlink()
    for path, text in wanted.items():
        place = folder / path
        if not place.is_file() or place.read_text(encoding="utf-8") != text:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")


def problems():
    """What is wrong with the tables and with this script, a line each."""
    digests = set()
    for seed in ("1", "2"):  # the order of a set depends on it
        done = subprocess.run([sys.executable, __file__, "--digest"], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
                              stdout=subprocess.PIPE, text=True)
        digests.add(done.stdout)
    if len(digests) > 1:
        yield "two runs of scripts/gen_api.py write different files"
    if difference := model.reader_differs():
        yield difference
    yield from lists.undocumented()


def main():
    if sys.argv[1:] == ["--check"]:
        found = list(problems())
        print("".join(f"gen_api: {line}\n" for line in found), end="")
        return 1 if found else 0
    if sys.argv[1:] == ["--digest"]:
        print(sorted(outputs().items()))
        return 0
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    write(pathlib.Path(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
