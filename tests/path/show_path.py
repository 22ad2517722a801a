# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the functions between a public name and the NIC, out of the stacks that trace.py wrote; show_path.sh runs both.

usage: show_path.py STACKS --print | --write PAGE | --check PAGE

Functions as they stand in the sources are counted: inlined ones and lambdas too, but neither those of the standard
library nor libfabric's. A function that returns before the next one is called is not on the path.
"""
import collections
import difflib
import json
import pathlib
import re
import sys
from typing import NamedTuple


class Path(NamedTuple):
    title: str
    most_functions: int
    most_files: int


# What each path may have at most. These are the numbers of today; they only go down.
PATHS = {
    "host": Path("A put of a host thread", most_functions=8, most_files=6),
    "kernel": Path("A put of a kernel, on the GPU", most_functions=7, most_files=6),
    "proxy": Path("A put of a kernel, on the CPU", most_functions=6, most_files=5),
}
HOW = "run scripts/show_path.sh --write docs/architecture.md"
BEGIN, END = "<!-- path {}: written by scripts/show_path.sh --write -->\n", "<!-- end of path -->"
LAST = 5  # of the nine puts of each program


def without_groups(name):
    """Takes out template arguments and parameters: everything in <> and (), but not of an operator's name."""
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"\boperator\s*(\(\)|<=>|<<=?|>>=?|<=|>=|->\*?|<|>)", lambda match: "operator " + match[1].encode().hex(), name)
    shorter = None
    while shorter != name:
        name, shorter = re.sub(r"<[^<>()]*>|\([^<>()]*\)", "", name), name
    return re.sub(r"\boperator ([0-9a-f]+)", lambda match: "operator" + bytes.fromhex(match[1]).decode(), name)


def short(name):
    """railshmem::A<B>::f<C>(D)::{lambda(E)#1}::operator()(E) const -> A::f::lambda"""
    name = re.sub(r"\[(clone|abi)[^\]]*\]|\.(isra|constprop|part|cold)\.?\d*", "", without_groups(name))
    name = re.sub(r"\{lambda#\d+\}(::operator\(\))?|^operator\(\)$", "lambda", name)
    name = re.sub(r"( const| volatile| &&?)+(::|$)", r"\2", name.strip()).split(" ")[-1]
    parts = name.removeprefix("railshmem::").split("::")
    # The compiler's notes lack the namespace of an inlined function that only its own file knows, so no free function
    # is shown with one.
    if not any(part[:1].isupper() for part in parts[:-1]) and parts[-1] != "lambda":
        parts = parts[-1:]
    return "::".join(parts)


def ours(frames):
    return tuple((short(function), file) for function, file in frames if file is not None)


def rows_by_path(stacks):
    """For each path the stack of most of its last operations. The first ones wait for a connection and are refused until
    there is one; a lock that another thread holds may lead any of them elsewhere.
    """
    found = {path: [] for path in PATHS}
    for line in stacks.read_text(encoding="utf-8").splitlines() if stacks.exists() else []:
        stack = json.loads(line)
        found[stack["path"]].append(ours(stack["frames"]))
    for path, seen in found.items():
        if len(seen) < LAST:
            sys.exit(f"show_path: the program came {len(seen)} times to the end of the path '{path}', not {LAST} times or more; do the "
                     "path's first and last function still have the names that scripts/show_path.sh gives?")
    return {path: collections.Counter(seen[-LAST:]).most_common(1)[0][0] for path, seen in found.items()}


def counts(rows):
    return len(rows), len({file for _, file in rows})


def table(rows):
    lines = ["| | function | file |", "| --- | --- | --- |"]
    lines += [f"| {number} | `{function}` | `{file}` |" for number, (function, file) in enumerate(rows, 1)]
    return "\n".join(lines) + "\n\n{} functions in {} files.\n".format(*counts(rows))


def with_tables(page, rows):
    """The text of the page, with the tables of today in it."""
    for path, steps in rows.items():
        begin = BEGIN.format(path)
        before, mark, rest = page.partition(begin)
        _, end, after = rest.partition(END)
        if not mark or not end:
            sys.exit(f"show_path: the page has no place for the path '{path}'; put these lines there, then {HOW}:\n{begin}{END}")
        page = before + begin + table(steps) + END + after
    return page


def problems_of(name, page, rows):
    for path, steps in rows.items():
        functions, files = counts(steps)
        title, most_functions, most_files = PATHS[path]
        if functions > most_functions or files > most_files:
            yield (f"{title} passes {functions} functions in {files} files; PATHS in tests/path/show_path.py allows {most_functions} in "
                   f"{most_files}. Shorten this path:\n\n{table(steps)}")
    real = with_tables(page, rows)
    if page != real:
        changes = difflib.unified_diff(page.splitlines(), real.splitlines(), "in the page", "in the program", n=0, lineterm="")
        yield f"{name} shows another path than puts take; {HOW}. The difference:\n" + "\n".join(changes)


def main():
    stacks, mode, page = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    rows = rows_by_path(stacks)
    if mode == "--print":
        print("\n".join(f"{PATHS[path].title}:\n\n{table(steps)}" for path, steps in rows.items()), end="")
        return 0
    text = page.read_text(encoding="utf-8")
    if mode == "--write":
        page.write_text(with_tables(text, rows), encoding="utf-8")
        return 0
    problems = list(problems_of(page, text, rows))
    for problem in problems:
        print(problem)
    sizes = ["{}: {} functions in {} files".format(path, *counts(steps)) for path, steps in rows.items()]
    print(f"show_path: {'; '.join(sizes)}; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
