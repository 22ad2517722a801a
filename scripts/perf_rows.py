# SPDX-License-Identifier: BSD-3-Clause
"""Rows of shmem_perf --format json: reading and checking, for the scripts beside this one."""
import json
import sys

KEYS = ["bench", "transport", "provider", "pes", "bytes", "metric", "unit", "value", "p50", "p99"]


def read(paths):
    """All rows of the files: one object a line, or one JSON array. Ends the program on the first bad file."""
    rows = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            found = json.loads(text) if text.lstrip().startswith("[") else [
                json.loads(line) for line in text.splitlines() if line.strip()]
        except (OSError, ValueError) as error:
            sys.exit(f"{path}: {error}; expected the output of shmem_perf --format json")
        for number, row in enumerate(found, 1):
            missing = [key for key in KEYS if key not in row]
            if missing:
                sys.exit(f"{path}: row {number} lacks {', '.join(missing)}; expected the output of shmem_perf --format json")
        rows.extend(found)
    return rows
