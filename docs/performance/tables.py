#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/performance.md and of the pages beside this file from the rows beside this file.

usage: tables.py [--check]

A table stands between <!-- rows NAME --> and <!-- end -->, and has the rows whose "table" is NAME. --check changes nothing and
fails where the page and the rows differ: a table is not what its rows give, a row has no table, or a row lacks a field.
"""
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGES = [FOLDER.parent / "performance.md", *sorted(FOLDER.glob("*.md"))]
NEEDED = ("table", "bench", "size", "value", "unit", "floor", "peer", "goal", "machine", "versions", "command", "date", "multicast", "commit", "source")
MULTICAST = ("on", "off", "no GPU")
TABLE = re.compile(r"(<!-- rows (\S+) -->\n).*?(<!-- end -->)", re.S)


def read():
    """{table: [row]} of all files, in their order."""
    tables = {}
    for path in sorted(FOLDER.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(line)
            lacking = [field for field in NEEDED if field not in row]
            if lacking or row["multicast"] not in MULTICAST or not re.fullmatch(r"\d{4}-\d\d-\d\d", row["date"]):
                sys.exit(f"{path.name}:{number}: lacks {', '.join(lacking) or 'a valid multicast (on, off, no GPU) or date (YYYY-MM-DD)'}")
            tables.setdefault(row["table"], []).append(row)
    return tables


def number(value):
    """Four digits that count, without an exponent."""
    if value is None:
        return ""
    if isinstance(value, int) or value == int(value):
        return f"{int(value)}" if abs(value) < 1e6 else f"{value:.3g}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def size(nbytes):
    if nbytes is None:
        return ""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= unit and nbytes % unit == 0:
            return f"{nbytes // unit} {name}"
    return f"{nbytes} B" if nbytes else ""


def ratio(value):
    return f"{value:.2f}" if value is not None else ""


def result(row):
    return {True: "met", False: "**missed**"}.get(row.get("met"), "")


def value(row):
    """The value with its unit; what takes less than 0.1 us in ns."""
    shown, unit = row["value"], row["unit"]
    if unit == "us" and shown < 0.1:
        shown, unit = shown * 1000, "ns"
    return f"{number(shown)} {unit}{rounds(row)}"


def rounds(row):
    return f" ({number(min(row['rounds']))} to {number(max(row['rounds']))})" if "rounds" in row else ""


def caption(rows):
    """Where, with what, how and when the rows were measured."""
    def all_of(field):
        return "; ".join(dict.fromkeys(str(row[field]) for row in rows))
    # `name;name` is a provider, not an end of a sentence, so the parts stand apart by full stops.
    parts = [all_of("machine"), all_of("versions"), f"`{all_of('command')}`", f"commit {all_of('commit')}", all_of("date")]
    if rows[0]["multicast"] != "no GPU":
        parts.append(f"multicast {all_of('multicast')}")
    return ". ".join(parts) + "."


def columns(rows):
    peers = ", ".join(dict.fromkeys(row["peer_name"] for row in rows if row.get("peer_name")))
    every = [
        ("operation", ":---", lambda row: row["bench"]),
        ("size", "---:", lambda row: size(row["size"])),
        ("value", "---:", value),
        ("floor", "---:", lambda row: number(row["floor"])),
        ("value / floor", "---:", lambda row: ratio(row.get("to_floor"))),
        (peers, "---:", lambda row: number(row["peer"])),
        (f"value / {peers}" if all(row["peer"] is None for row in rows) else "value / peer", "---:", lambda row: ratio(row.get("to_peer"))),
        ("goal", ":---", lambda row: row["goal"] or ""),
        ("result", ":---", result),
        ("remark", ":---", lambda row: row.get("note", "")),
    ]
    return [(head, align, cell) for head, align, cell in every if any(cell(row) for row in rows)]


def table(rows):
    chosen = columns(rows)
    lines = [caption(rows), "", "| " + " | ".join(head for head, _, _ in chosen) + " |", "| " + " | ".join(align for _, align, _ in chosen) + " |"]
    return "\n".join(lines + ["| " + " | ".join(cell(row) for _, _, cell in chosen) + " |" for row in rows]) + "\n"


def main():
    tables = read()
    before = {page: page.read_text(encoding="utf-8") for page in PAGES}
    asked = [match[1] for text in before.values() for match in TABLE.findall(text)]
    wrong = [f"no table for the rows of {name}" for name in tables if name not in asked] + [f"no rows for the table {name}" for name in asked if name not in tables]
    if wrong:
        sys.exit("; ".join(wrong))
    for page, text in before.items():
        after = TABLE.sub(lambda match: f"{match[1]}\n{table(tables[match[2]])}\n{match[3]}", text)
        if "--check" not in sys.argv[1:]:
            page.write_text(after, encoding="utf-8")
        elif after != text:
            sys.exit(f"{page.name} does not say what its rows say; run docs/performance/tables.py")


if __name__ == "__main__":
    main()
