#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the links of Markdown files that lead to files and headings of this repository; nothing is asked of a network.

usage: check_links.py FILE...

A relative link must name a file or folder that exists, and one with an anchor (#...) a heading there. Exit 77: the parser
is missing (Debian and Ubuntu: python3-markdown-it; PyPI: markdown-it-py).
"""
import os
import re
import sys
import urllib.parse

try:
    from markdown_it import MarkdownIt
except ImportError:
    print("SKIPPED: no markdown-it for Python (Debian and Ubuntu: python3-markdown-it)")
    sys.exit(77)


def inline_tokens(tokens):
    for token in tokens:
        yield token
        yield from inline_tokens(token.children or [])


def parse(path):
    with open(path, encoding="utf-8") as file:
        return MarkdownIt("commonmark").enable("table").parse(file.read())


def anchor(heading):
    """The name that GitHub and GitLab give to a heading."""
    words = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return words.replace(" ", "-")


def anchors(path):
    """All headings of a file; the second one of a name ends in -1, and so on."""
    found, seen = set(), {}
    tokens = parse(path)
    for opening, content in zip(tokens, tokens[1:]):
        if opening.type != "heading_open":
            continue
        name = anchor("".join(t.content for t in content.children if t.type in ("text", "code_inline")))
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(f"{name}-{count}" if count else name)
    return found


def links(path):
    """(line, target) of each link and picture."""
    for block in parse(path):
        for token in inline_tokens(block.children or []):
            target = token.attrGet("href") or token.attrGet("src")
            if target:
                yield (block.map or [0])[0] + 1, target


def problem(path, target):
    """What is wrong with a link, or nothing."""
    parts = urllib.parse.urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    place = path
    if parts.path:
        place = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path)))
    if not os.path.exists(place):
        return f"there is no {place}"
    if parts.fragment and place.endswith(".md") and parts.fragment not in anchors(place):
        return f"{place} has no heading #{parts.fragment}"
    return None


def main():
    count = bad = 0
    for path in sys.argv[1:]:
        for line, target in links(path):
            count += 1
            wrong = problem(path, target)
            if wrong:
                bad += 1
                print(f"{path}:{line}: {target}: {wrong}")
    print(f"check_links: {count} links, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
