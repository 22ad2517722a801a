# SPDX-License-Identifier: BSD-3-Clause
"""Rows of shmem_perf --format json: reading and checking, for the scripts beside this one."""
import json
import math
import sys

TEXTS = ["bench", "transport", "provider", "metric", "unit"]
COUNTS = ["pes", "bytes"]
NUMBERS = ["value", "p50", "p99"]
KEYS = TEXTS + COUNTS + NUMBERS
# Fields that a row may have; a number may be null.
MORE_TEXTS = ["version", "date", "host", "order", "memory", "dtype", "shape"]
MORE_NUMBERS = ["floor", "ratio", "busbw", "algbw"]
HINT = "expected the output of shmem_perf --format json"


def is_number(value):
    """Whether it is a finite number that fits a float."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def is_count(value):
    return is_number(value) and value == int(value) and 0 <= value < 2**64


def flaw(row):
    """What is wrong with a row, as the end of a sentence; empty: nothing."""
    if not isinstance(row, dict):
        return "is no object"
    missing = [key for key in KEYS if key not in row]
    if missing:
        return f"lacks {', '.join(missing)}"
    for kind, fits, keys in (("text", lambda value: isinstance(value, str), TEXTS + MORE_TEXTS), ("count", is_count, COUNTS), ("number", is_number, NUMBERS),
                             ("number", lambda value: value is None or is_number(value), MORE_NUMBERS)):
        for key in keys:
            if key in row and not fits(row[key]):
                return f"has {repr(row[key])[:40]} as {key}, which is no {kind}"
    return ""


def read(paths):
    """All rows of the files: one object a line, or one JSON array. Ends the program on the first bad file."""
    rows = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            found = json.loads(text) if text.lstrip().startswith("[") else [
                json.loads(line) for line in text.splitlines() if line.strip()]
        except (OSError, ValueError, RecursionError) as error:
            sys.exit(f"{path}: {error}; {HINT}")
        for number, row in enumerate(found, 1):
            wrong = flaw(row)
            if wrong:
                sys.exit(f"{path}: row {number} {wrong}; {HINT}")
        rows.extend(found)
    return rows
