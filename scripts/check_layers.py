#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when an #include breaks the dependency rule of layers.py, when docs/architecture.md shows another rule, or when a
file is too long.

usage: check_layers.py [ROOT]     ROOT: of the sources; the folder above this script's where none is given
       check_layers.py --write    writes the table of docs/architecture.md
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import gen_api  # beside this script: what it writes keeps the rule, too
from layers import LAYERS, RULE, SHARED_SIBLINGS, SIBLINGS, VENDOR  # beside this script

HOME = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/architecture.md"
TABLE = re.compile(r"(<!-- layers: written by scripts/check_layers.py --write -->\n).*?(<!-- end of layers -->)", re.S)
MAX_LINES = 500
LONG_FILES_ALLOWED = re.compile(r"(^tests/|\.inc$)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    best = ""
    for folder in RULE:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return best


def sibling_of(path):
    """bootstrap/tcp/x.h -> bootstrap/tcp; None for files directly in a registry folder or elsewhere."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in SIBLINGS and len(parts) > 2 else None


def target_of(name, source):
    """The repository path that an include means, or None for system headers."""
    if name.startswith(("src/", "bootstrap/", "transports/", "overlap/", "moe/", "perftest/", "python/", "tests/", "include/")):
        return name
    if name.startswith(("shmem/", "mpp/")) or name in ("shmem.h", "shmemx.h", "shmemx_overlap.h", "shmemx_moe.h", "pshmem.h"):
        return "include/" + name
    return None


def check_include(path, line, quote, name):
    for pattern, allowed in VENDOR.items():
        if re.match(pattern, name) and quote == "<" and not any(path.startswith(a) for a in allowed):
            yield f"{path}:{line}: <{name}> belongs into {', '.join(allowed)} only"
    target = target_of(name, path)
    if target is None:
        return
    here, there = folder_of(path), folder_of(target)
    mine, theirs = sibling_of(path), sibling_of(target)
    if mine and theirs and mine != theirs and theirs not in SHARED_SIBLINGS:
        yield f"{path}:{line}: {mine} may not include {theirs}"
    elif here != there and not any(target.startswith(allowed + "/") for allowed in RULE[here]):
        yield f"{path}:{line}: {here} may not include {target}"


def check_includes(relative, lines):
    for number, text in enumerate(lines, 1):
        match = INCLUDE.match(text)
        if match:
            yield from check_include(relative, number, match.group(1), match.group(2))


def check(root):
    seen = 0
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".hpp", ".cpp", ".c", ".cu", ".cuh", ".inc") or relative.startswith(("build", "generated/")):
            continue
        lines = path.read_text().splitlines()
        if len(lines) > MAX_LINES and not LONG_FILES_ALLOWED.search(relative):
            yield f"{relative}: {len(lines)} lines; split it by concept (limit {MAX_LINES})"
        if not folder_of(relative):
            continue
        seen += 1
        yield from check_includes(relative, lines)
    for relative, text in gen_api.outputs().items():
        if folder_of(relative):
            yield from check_includes(relative, text.splitlines())
    if seen < 20:
        yield f"{root}: only {seen} source files found; is this the root of the repository?"


def with_table(page):
    """The text of the page, with the table of today's rule in it."""
    rows = ["| folder | what it is | may include |", "| --- | --- | --- |"]
    for layer in LAYERS:
        below = ", ".join(folder.removeprefix("src/") for folder in layer.may_include if folder != layer.folder)
        rows.append(f"| `{layer.folder}` | {layer.meaning} | {below or '-'} |")
    return TABLE.sub(lambda marks: marks[1] + "\n".join(rows) + "\n" + marks[2], page)


def main():
    if sys.argv[1:] == ["--write"]:
        page = HOME / PAGE
        page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HOME
    problems = list(check(root))
    page = (root / PAGE).read_text(encoding="utf-8")
    if not TABLE.search(page) or page != with_table(page):
        problems.append(f"{PAGE} shows another rule than scripts/layers.py; run scripts/check_layers.py --write")
    for problem in problems:
        print(problem)
    print(f"check_layers: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
