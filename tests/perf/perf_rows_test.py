# SPDX-License-Identifier: BSD-3-Clause
"""Damaged files of rows: each script that reads them must say what is wrong. perf_rows_test.py SCRIPTS ROWS."""
import contextlib
import io
import json
import random
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS, ROWS = (Path(sys.argv.pop(1)).resolve() for _ in range(2))
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
import perf_rows  # noqa: E402  (from the folder that was given)
import perf_table  # noqa: E402

VALUES = [None, True, -1, 0, 1.5, 2**64, 10**400, 1e308, float("nan"), float("inf"), "", "x" * 5000, "\0", [], [[]], {}, {"a": 1}]


class DamagedRows(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "rows.json"
        self.good = perf_rows.read([ROWS])

    def table_of(self, content):
        """(the page, the error): one of them is empty."""
        self.path.write_bytes(content)
        page = io.StringIO()
        arguments, sys.argv = sys.argv, ["perf_table.py", str(self.path)]
        try:
            with contextlib.redirect_stdout(page):
                perf_table.main()
        except SystemExit as stop:
            return "", str(stop.code)
        finally:
            sys.argv = arguments
        return page.getvalue(), ""

    def refuses(self, content, why):
        page, error = self.table_of(content)
        self.assertEqual(page, "")
        self.assertIn(why, error)
        self.assertIn("shmem_perf --format json", error)

    def test_whole_rows_are_read(self):
        page, error = self.table_of(json.dumps(self.good).encode())
        self.assertEqual(error, "")
        self.assertGreater(page.count("\n| "), len(self.good) // 2)

    def test_a_row_that_is_no_object(self):
        for text in ("3", '"bench"', "[[1]]", "null", "[null]"):
            self.refuses(text.encode(), "row 1 is no object")

    def test_fields_that_are_missing(self):
        for key in perf_rows.KEYS:
            self.refuses(json.dumps({k: v for k, v in self.good[0].items() if k != key}).encode(), f"row 1 lacks {key}")

    def test_fields_of_another_type(self):
        row = dict(self.good[0])
        for key, value, kind in (("bench", 3, "text"), ("version", [], "text"), ("bytes", "8", "count"), ("bytes", -1, "count"), ("bytes", 2**64, "count"),
                                 ("value", None, "number"), ("p99", float("nan"), "number"), ("value", 10**400, "number"), ("p50", True, "number"),
                                 ("floor", "x", "number")):
            self.refuses(json.dumps({**row, key: value}).encode(), f"as {key}, which is no {kind}")

    def test_no_json(self):
        for content in (b"\xff\xfe", b"{", b"[" * 100000, b"{}" * 3, b'{"a": ' * 100000, b"1" * 5000):
            page, error = self.table_of(content)
            self.assertEqual(page, "")
            self.assertTrue(error)

    def test_random_damage_gives_a_page_or_an_error(self):
        chance = random.Random(20261130)
        for _ in range(600):
            rows = [dict(row) for row in self.good[:3]]
            for _ in range(chance.randrange(3)):
                row = chance.choice(rows)
                if chance.random() < 0.2:
                    row.pop(chance.choice(list(row)), None)
                elif row:
                    row[chance.choice(list(row) + perf_rows.MORE_TEXTS + perf_rows.MORE_NUMBERS)] = chance.choice(VALUES)
            content = bytearray("\n".join(json.dumps(row) for row in rows).encode())
            for _ in range(chance.randrange(3)):
                content[chance.randrange(len(content))] = chance.randrange(256)
            page, error = self.table_of(bytes(content))
            self.assertNotEqual(bool(page), bool(error))


if __name__ == "__main__":
    # The commit and the version of libfabric are no part of this.
    perf_table.output_of = lambda *command: "unknown"
    unittest.main()
