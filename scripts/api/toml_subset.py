# SPDX-License-Identifier: BSD-3-Clause
"""Reads the part of TOML that table.toml uses, for Pythons before 3.11, whose library has no tomllib. scripts/gen_api.py --check
compares the two where both are there.
"""
import json
import re

SKIP = re.compile(r"(?:\s|#[^\n]*)*")
HEADER = re.compile(r"(\[\[?)([\w.]+)\]\]?")
KEY = re.compile(r"(\w+)[ \t]*=[ \t]*")
BARE = re.compile(r"true|false")
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
LONG_TEXT = re.compile(r"'''\n?(.*?)'''", re.S)


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def match(self, pattern):
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def skip(self):
        """White space and comments; the character behind them, "" at the end."""
        self.match(SKIP)
        return self.text[self.at:self.at + 1]

    def fail(self):
        line = self.text.count("\n", 0, self.at) + 1
        raise ValueError(f"line {line}: {self.text[self.at:self.at + 40]!r} is not understood by toml_subset.py; Python 3.11 reads all of TOML")

    def several(self, end, item):
        """Calls item() for each of what stands between commas, up to the character `end`."""
        self.at += 1
        while self.skip() != end:
            item()
            if self.skip() == ",":
                self.at += 1
            elif self.skip() != end:
                self.fail()
        self.at += 1

    def value(self):
        first = self.skip()
        if found := self.match(LONG_TEXT):
            return found[1]
        if found := self.match(TEXT):
            return json.loads(found[0])
        if found := self.match(BARE):
            return found[0] == "true"
        if first == "[":
            items = []
            self.several("]", lambda: items.append(self.value()))
            return items
        if first == "{":
            table = {}
            self.several("}", lambda: self.pair(table))
            return table
        return self.fail()

    def pair(self, table):
        key = self.match(KEY) or self.fail()
        table[key[1]] = self.value()

    def document(self):
        root = {}
        table = root
        while self.skip():
            header = self.match(HEADER)
            if not header:
                self.pair(table)
                continue
            *path, last = header[2].split(".")
            table = root
            for name in path:  # of a list of tables the last is meant
                table = table[name][-1] if isinstance(table[name], list) else table[name]
            if header[1] == "[[":
                table.setdefault(last, []).append({})
                table = table[last][-1]
            else:
                table = table.setdefault(last, {})
        return root


def loads(text):
    return Reader(text).document()
