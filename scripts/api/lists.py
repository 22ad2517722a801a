# SPDX-License-Identifier: BSD-3-Clause
"""The functions of the table of the API and of shmemx.h, by the text that they share. For reference pages and man pages."""
import pathlib
import re

import check_api  # in the folder above: the names of the standard
import model

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLEX = {"complexf": "float _Complex", "complexd": "double _Complex"}  # as programs write them
SECTION = re.compile(r"\s*\((OpenSHMEM [^()]*)\)\.?\s*$")


class Function:
    """A function of the table; TYPENAME, TYPE and SIZE stand for the rows of `rows`."""

    def __init__(self, result, name, parameters, has_context, rows):
        self.result, self.name, self.parameters = result, name, parameters
        self.has_context, self.rows = has_context, rows

    def names(self):
        for row in self.rows or [("", "")]:
            name = self.name.replace("TYPENAME", row[0]).replace("SIZE", row[0])
            yield name
            if self.has_context:
                yield name.replace("shmem_", "shmem_ctx_", 1)


class Family:
    """The functions of a header, by the comments that they share."""

    def __init__(self, name, title, intro, by_doc):
        self.name, self.title, self.intro, self.by_doc = name, title, intro, by_doc

    def functions(self):
        return [function for group in self.by_doc.values() for function in group]


def general(table, function, row_name, prefix):
    """One line of documentation for all types of a set, all sizes, or a function without elements."""
    if row_name in ("sizes", "sizes32_64"):
        rows = [(bits,) for bits in (model.SIZES if row_name == "sizes" else ["32", "64"])]
        row = model.Row("sized", "SIZE")
    elif row_name == "mem":
        rows, row = None, model.Row("mem")
    elif row_name:
        rows = [(name, COMPLEX.get(name, table.types[name])) for name in table.names(row_name)]
        row = model.Row("typed", "TYPENAME", "TYPE")
    else:
        rows, row = None, model.Row("none")
    with_type = [re.sub(r"\bT\b", row.type, f"{kind} {name}".strip()) for kind, name in function.parameters]
    return Function(re.sub(r"\bT\b", row.type, function.result), prefix + row.function_name(function.pattern), with_type or ["void"],
                    function.context, rows)


def functions_of(table, group):
    """By rows: what is typed, what has a size in bits, what has neither."""
    by_row = {}
    for function in group["entries"]:
        for row_names, prefix in function.row_sets:
            for row_name in row_names or [""]:
                by_row.setdefault((row_name, prefix), []).append(general(table, function, row_name, prefix))
    return [function for functions in by_row.values() for function in functions]


def family_of(table, family):
    by_doc = {}
    for group in family["group"]:
        where = f" (OpenSHMEM 1.6, {group['section']})" if "section" in group else ""
        doc = [f"{group['title']}{where}.", "", *group.get("text", "").strip().splitlines()]
        by_doc[tuple(doc)] = functions_of(table, group)
    title = family["title"].partition(":")[0]
    return Family(family["name"], title, family.get("intro", family["title"] + ".").strip(), by_doc)


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


def family_of_shmemx():
    """Plain declarations, each with its comment. Their headings are their names."""
    text = (ROOT / "include/shmemx.h").read_text(encoding="utf-8")
    intro = introduction(text)
    by_doc = {}
    for doc, declaration in re.findall(r"((?:^///.*\n)+)^RAILSHMEM_API ([^;]*);", text, re.M):
        lines = tuple(line[3:].strip() for line in doc.splitlines())
        result, name, parameters = re.fullmatch(r"(.*?)(\w+)\((.*)\)", " ".join(declaration.split())).groups()
        by_doc[lines] = [Function(result.strip(), name, [part.strip() for part in parameters.split(",")], False, None)]
    return Family("shmemx", re.split(r"[:.](\s|$)", intro.replace("\n", " "), maxsplit=1)[0], intro, by_doc)


def families():
    """All of them, those of the standard first."""
    table = model.Table()
    return [family_of(table, family) for family in table.families] + [family_of_shmemx()]


def undocumented():
    """A line for each kind of name that no family has: the names of the standard, and the extensions that the library exports."""
    names = {name for family in families() for function in family.functions() for name in function.names()}
    required = [name for name, milestone in check_api.standard_names().items() if milestone <= check_api.MILESTONE]
    for what, expected in (("functions of the standard", required), ("extensions", check_api.EXTENSIONS)):
        missing = [name for name in expected if name not in names]
        if missing:
            yield f"{len(missing)} {what} have no documentation, for example {missing[0]}: neither table.toml nor a comment of shmemx.h has them"
