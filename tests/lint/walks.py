#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""walks.py TREE: the walks of CONTRIBUTING.md and the words of docs/glossary.md name files that exist, and functions that these define."""
import pathlib
import re
import sys

tree = pathlib.Path(sys.argv[1])
problems = steps = places = 0
for line in (tree / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
    step = re.match(r"\| `([\w/.]+)` \| `(\w+)` \|", line)
    if not step:
        continue
    steps += 1
    file, function = tree / step[1], step[2]
    if not file.is_file() or not re.search(rf"\b(?:\w+[&*>]? {function}\(|class {function}\b)", file.read_text(encoding="utf-8")):
        print(f"CONTRIBUTING.md: {step[1]} does not define {function}")
        problems += 1
for place in re.findall(r"`((?:src|bootstrap|transports|python|moe|overlap)[\w/.]*)`", (tree / "docs/glossary.md").read_text(encoding="utf-8")):
    places += 1
    if not (tree / place).exists():
        print(f"docs/glossary.md: {place} does not exist")
        problems += 1
print(f"walks: {steps} steps, {places} places of words, {problems} problems")
sys.exit(problems != 0 or steps < 15 or places < 40)
