#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/building.md names every option of the CMake files with its default, and docs/limits.md names constants that the code has.

usage: documented.py SOURCE
"""
import pathlib
import re
import sys

OPTION = re.compile(r"^\s*(?:option\((RAILSHMEM_\w+)\s+\"[^\"]*\"\s+(\S+)\)|set\((RAILSHMEM_\w+)\s+(\S+)\s+CACHE\s+(?!INTERNAL))", re.M)
ROW = re.compile(r"^\| `(RAILSHMEM_\w+)` \| ([^|]+) \|", re.M)
LIMIT = re.compile(r"`([A-Za-z_]+)(?: =)? ([^`]+)` in `([^`]+)`")
TOP_LEVEL = "ON at top level, else OFF"


def options(root):
    """{name: default} of the options that a user may set."""
    found = {}
    files = [root / "CMakeLists.txt", *root.glob("cmake/**/*.cmake"), *root.glob("*/CMakeLists.txt"), *root.glob("*/*/CMakeLists.txt")]
    for path in files:
        if path.relative_to(root).parts[0] == "build":
            continue
        text = path.read_text(encoding="utf-8")
        for features in re.findall(r"foreach\(feature ([A-Z ]+)\)", text):
            found |= {f"RAILSHMEM_{feature}": "AUTO" for feature in features.split()}
        for name, default, cached, value in OPTION.findall(text):
            found[name or cached] = {"${PROJECT_IS_TOP_LEVEL}": TOP_LEVEL, '""': "empty"}.get(default or value, default or value)
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    have, told = options(root), dict(ROW.findall((root / "docs/building.md").read_text(encoding="utf-8")))
    wrong = [f"docs/building.md lacks {name}, default {have[name]}" for name in have.keys() - told.keys()]
    wrong += [f"docs/building.md has {name}, which no CMake file has" for name in told.keys() - have.keys()]
    wrong += [f"docs/building.md: {name} is {told[name]}, and {have[name]} by default" for name in have.keys() & told.keys() if have[name] != told[name]]
    limits = LIMIT.findall((root / "docs/limits.md").read_text(encoding="utf-8"))
    for name, value, path in limits:
        text = (root / path).read_text(encoding="utf-8") if (root / path).is_file() else ""
        if not re.search(rf"\b{name}\s*=?\s*{re.escape(value)}", text):
            wrong.append(f"docs/limits.md: {path} has no {name} = {value}")
    if len(have) < 15 or len(limits) < 20:
        wrong.append(f"found only {len(have)} options and {len(limits)} limits; this test reads them wrong")
    print("\n".join(sorted(wrong)) or f"documented: {len(have)} options, {len(limits)} limits")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
