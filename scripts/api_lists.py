# SPDX-License-Identifier: BSD-3-Clause
"""The function lists of include/shmem/*.h and the declarations of shmemx.h, with the /// comments above them. For the
scripts that write reference pages and man pages.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import check_api  # beside this script: the names of the standard

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/shmem"
SECTION = re.compile(r"\s*\((OpenSHMEM [^()]*)\)\.?\s*$")
DECLARE = {"RAILSHMEM_DECLARE": "shmem_", "RAILSHMEM_DECLARE_BOTH": "shmem_", "RAILSHMEM_DECLARE_PLAIN": "",
           "RAILSHMEM_DECLARE_EXTENSION": "shmemx_", "RAILSHMEM_DECLARE_EXTENSION_BOTH": "shmemx_"}
EXTENSIONS = ["stream", "reducescatter", "reduce16"]  # headers of lists that the standard does not have


class Macro:
    def __init__(self, parameters, body, doc):
        self.parameters, self.body, self.doc = parameters, body, doc


class Function:
    """A line of a list; TYPENAME, TYPE and SIZE stand for the rows of `rows`."""

    def __init__(self, result, name, parameters, has_context, rows):
        self.result, self.name, self.parameters = result, name, parameters
        self.has_context, self.rows = has_context, rows

    def names(self):
        for row in self.rows or [("", "")]:
            name = self.name.replace("TYPENAME", row[0]).replace("SIZE", row[0])
            yield name
            if self.has_context:
                yield name.replace("shmem_", "shmem_ctx_", 1)


def split(text):
    """Arguments at the outermost commas."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def calls(text):
    """(name, arguments) of every outermost NAME(...)."""
    at = 0
    while match := re.compile(r"(\w+)\s*\(").search(text, at):
        depth, end = 1, match.end()
        while depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        yield match[1], split(text[match.end():end - 1])
        at = end


def logical_lines(text):
    line = ""
    for part in text.splitlines():
        line += part[:-1] + " " if part.endswith("\\") else part
        if not part.endswith("\\"):
            yield line
            line = ""


def parse(text, macros):
    """Adds the macros of a header. A comment holds for all macros down to the next empty line."""
    doc, open_comment = [], False
    for line in logical_lines(text):
        if line.startswith("///"):
            doc = (doc if open_comment else []) + [line[3:].strip()]
            open_comment = True
            continue
        open_comment = False
        if not line.strip():
            doc = []
        match = re.match(r"#define (\w+)\(([^)]*)\)\s*(.*)", line)
        if match:
            macros[match[1]] = Macro([p.strip() for p in match[2].split(",")], match[3], doc)


def substitute(macro, arguments):
    body = macro.body
    named = dict(zip(macro.parameters, arguments))
    if macro.parameters[-1] == "...":
        named["__VA_ARGS__"] = ", ".join(arguments[len(macro.parameters) - 1:])
    return re.sub(r"\w+", lambda m: named.get(m[0], m[0]), re.sub(r"\s*##\s*", "\x00", body)).replace("\x00", "")


def rows_of(name, macros):
    """The rows of a table of types: (name, type) or (bits,)."""
    def walk(body):
        for called, arguments in calls(body):
            if called == "X":
                yield tuple(arguments[1:])
            else:
                yield from walk(macros[called].body)
    return list(walk(macros[name].body))


def expand(name, arguments, macros, prefix, doc=(), rows=None):
    """(doc, Function) of everything in a list. The comment of a function of the standard names its section; that of an
    extension is the innermost one.
    """
    macro = macros[name]
    if any(SECTION.search(line) for line in macro.doc[:3]) or (prefix == "shmemx_" and macro.doc):
        doc = macro.doc
    for called, inner in calls(substitute(macro, arguments)):
        if called == "F":
            yield doc, Function(inner[0], prefix + inner[1], inner[2:], False, rows)
        elif called == "RAILSHMEM_CTX_PAIR":
            yield doc, Function(inner[1], prefix + inner[2], inner[3:], True, rows)
        elif called.endswith("_TYPES"):
            yield from expand(inner[0], ["F", "TYPENAME", "TYPE"], macros, prefix, doc, rows_of(called, macros))
        elif called == "RAILSHMEM_SIZES":
            yield from expand(inner[0], ["F", "SIZE"], macros, prefix, doc, rows_of(called, macros))
        else:
            yield from expand(called, inner, macros, prefix, doc, rows)


def describe(doc):
    """Heading (the first sentence), section of the standard, paragraphs."""
    text = "\n".join(doc).strip()
    summary, _, rest = text.partition("\n\n")
    summary = " ".join(summary.split())
    match = SECTION.search(summary)
    if match:
        return summary[:match.start()].rstrip("."), match[1], rest.strip()
    first, _, more = summary.partition(". ")
    return first.rstrip("."), "", f"{more}\n\n{rest}".strip()


def introduction(text):
    """The comment at the top of a header, without the licence."""
    lines = []
    for line in text.splitlines()[1:]:
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return "\n".join(lines).strip()


def title_and_rest(intro):
    """The first sentence, up to a colon, and the whole."""
    first = re.split(r"[:.](\s|$)", intro.replace("\n", " "), maxsplit=1)[0]
    return first, intro


class Family:
    """The functions of a header, by the comments that they share."""

    def __init__(self, name, title, intro, by_doc):
        self.name, self.title, self.intro, self.by_doc = name, title, intro, by_doc

    def functions(self):
        return [function for group in self.by_doc.values() for function in group]


def family_of(header, macros):
    """None where the header has no lists."""
    text = header.read_text(encoding="utf-8")
    by_doc = {}
    for line in text.splitlines():
        match = re.match(r"(RAILSHMEM_\w+_FUNCTIONS)\((RAILSHMEM_DECLARE\w*)\)", line)
        if match and match[2] in DECLARE:
            for doc, function in expand(match[1], ["F"], macros, DECLARE[match[2]]):
                by_doc.setdefault(tuple(doc), []).append(function)
    if not by_doc:
        return None
    if () in by_doc:
        sys.exit(f"api_lists: {header.name}: no comment, or none with a section, above {by_doc[()][0].name}")
    title, intro = title_and_rest(introduction(text))
    return Family(header.stem, title, intro, by_doc)


def family_of_shmemx():
    """Plain declarations, each with its comment. Their headings are their names."""
    text = (ROOT / "include/shmemx.h").read_text(encoding="utf-8")
    title, intro = title_and_rest(introduction(text))
    by_doc = {}
    for doc, declaration in re.findall(r"((?:^///.*\n)+)^RAILSHMEM_API ([^;]*);", text, re.M):
        lines = tuple(line[3:].strip() for line in doc.splitlines())
        match = re.fullmatch(r"(.*?)(\w+)\((.*)\)", " ".join(declaration.split()))
        by_doc[lines] = [Function(match[1].strip(), match[2], split(match[3]), False, None)]
    return Family("shmemx", title, intro, by_doc)


def families():
    """All of them, in the order of lists.h. Ends the script when a function of the standard is in none."""
    macros = {}
    order = re.findall(r'#include "shmem/(\w+)\.h"', (HEADERS / "lists.h").read_text(encoding="utf-8")) + EXTENSIONS
    for name in ["type_lists", "api"] + order:
        parse((HEADERS / f"{name}.h").read_text(encoding="utf-8"), macros)
    found = [family for name in order if (family := family_of(HEADERS / f"{name}.h", macros))] + [family_of_shmemx()]
    names = {name for family in found for function in family.functions() for name in function.names()}
    missing = [name for name, milestone in check_api.standard_names().items()
               if milestone <= check_api.MILESTONE and name not in names]
    if missing:
        sys.exit(f"api_lists: {len(missing)} functions of the standard are in no list, for example {missing[0]}")
    return found
