#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the headers and the entry points of the API from the table scripts/api/table.toml.

    gen_api.py            write the files
    gen_api.py --check    exit 1 when a file is not what would be written
"""
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/api"))
import compat
import declarations
import entries
import generics
import kernels
import model
import tables


def main():
    table = model.Table()
    wanted = {}
    for emitter in (declarations, kernels, generics, compat, entries, tables):
        wanted |= emitter.outputs(table)
    if sys.argv[1:] == ["--check"]:
        wrong = [path for path, text in wanted.items()
                 if not (ROOT / path).is_file() or (ROOT / path).read_text(encoding="utf-8") != text]
        if wrong:
            print(f"{', '.join(wrong)}: not what scripts/api/table.toml says; run scripts/gen_api.py")
        return 1 if wrong else 0
    if sys.argv[1:]:
        print(__doc__)
        return 2
    for path, text in wanted.items():
        if not (ROOT / path).is_file() or (ROOT / path).read_text(encoding="utf-8") != text:
            (ROOT / path).parent.mkdir(exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
