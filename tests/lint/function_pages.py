#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every function of the API has a page on the site, and every page says what a reader looks for.

usage: function_pages.py SOURCE
"""
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1]).resolve()
for folder in ("scripts", "docs/site"):
    sys.path.insert(0, str(ROOT / folder))
import check_api  # noqa: E402  (from the folder that was given)
import functions  # noqa: E402

PARTS = ["## Synopsis", "## Returns", "## Errors", "## Standard", "## Example", "## See also"]


def main():
    pages = functions.pages()
    index = pages.pop("docs/functions/README.md")
    text = "\n".join(pages.values())
    found = set()
    for page in pages.values():
        found |= {line.split()[-1] for line in page.splitlines() if line.startswith(("# ", "###### "))}
    wrong = [f"no page has {name}" for name in check_api.standard_names() if name not in found]
    for path, page in pages.items():
        name = pathlib.Path(path).stem
        wrong += [f"{path} lacks {part}" for part in PARTS if part not in page]
        wrong += [f"the index lacks {name}"] if f"({name}.md)" not in index else []
    wrong += ["an argument has no meaning: " + line for line in text.splitlines() if "| see the description" in line]
    print("\n".join(wrong[:20]) or f"function pages: {len(pages)} pages, {len(found)} names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
