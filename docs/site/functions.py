# SPDX-License-Identifier: BSD-3-Clause
"""A page for each function of the API, found by its name: synopsis, arguments, returns, errors, section of the standard, example.

The functions come from scripts/api/table.toml and from the comments of the headers that are written by hand. docs/site/assemble.py
adds the pages to the site; they are in no list of the site's navigation but their index.
"""
import pathlib
import re
import sys
import textwrap

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/api"))
import model  # noqa: E402  (from the folder of the table)
import arguments  # noqa: E402  (beside this script)

FOLDER = "docs/functions"
BY_HAND = ["shmemx.h", "shmemx_moe.h", "shmemx_overlap.h"]
PROGRAMS = ["examples/*.c", "examples/*.cpp", "examples/*.cu", "tests/conformance/*.c", "tests/conformance/*/*.c", "tests/conformance/*.cpp", "tests/gpu/multi_gpu/*.cpp"]
EXTENSION = "This is an extension of RailSHMEM."


class Page:
    """One function by its name without a type: shmem_put stands for shmem_long_put, shmem_put64 and shmem_putmem, too."""

    def __init__(self, name, header, title, sentence, section, details):
        self.name, self.header, self.title = name, header, title
        self.sentence, self.section, self.details = sentence, section, details
        self.synopsis, self.names, self.parameters, self.result, self.notes = [], [], {}, "void", []

    def prototype(self, result, name, parameters):
        text = ", ".join(f"{kind} {what}".strip() for kind, what in parameters) or "void"
        self.synopsis.append("\n".join(textwrap.wrap(f"{result} {name}({text});", 100, subsequent_indent="    ", break_long_words=False)))


def sentences(text):
    return re.split(r"(?<=[.;])\s+(?=[A-Z0-9a-z])", " ".join(text.split()))


def general(table, function, prefix, rows):
    """[(name, row)]: a prototype for all types, one for all sizes, one for bytes."""
    found = []
    for row_name in rows or [""]:
        if row_name in ("sizes", "sizes32_64"):
            row, about = model.Row("sized", "SIZE"), "SIZE, bits of an element: " + (", ".join(model.SIZES) if row_name == "sizes" else "32, 64")
        elif row_name == "mem":
            row, about = model.Row("mem"), ""
        elif row_name:
            row, about = model.Row("typed", "TYPENAME", "TYPE"), "TYPENAME: " + ", ".join(f"`{name}`" for name in table.names(row_name))
        else:
            row, about = model.Row("none"), ""
        found.append((prefix + row.function_name(function.pattern), row, about))
    return found


def of_table(pages):
    table = model.Table()
    for family in table.families:
        for group in family["group"]:
            for function in group["entries"]:
                for rows, prefix in function.row_sets:
                    add(table, pages, family, group, function, rows, prefix)


def add(table, pages, family, group, function, rows, prefix):
    name = prefix + function.generic_name()
    section = f"OpenSHMEM 1.6, section {group['section']}." if group.get("section") else EXTENSION
    row = model.Row("typed", "TYPENAME", "TYPE")
    # A second entry of one name, such as the forms of another set of types, adds to the page of the first one.
    page = pages.setdefault(name, Page(name, "shmem.h" if prefix == "shmem_" else "shmemx.h", family["title"].partition(":")[0], row.words(function.sentence), section,
                                       group.get("text", "").strip()))

    def element(text, kind):
        return re.sub(r"\bT\b", kind, text)

    for full, one, about in general(table, function, prefix, rows):
        parameters = [(element(kind, one.type), what) for kind, what in function.parameters]
        page.prototype(element(function.result, one.type).replace("RAILSHMEM_NORETURN ", ""), full, parameters)
        if about and about not in page.notes:
            page.notes.append(about)
        for kind, what in parameters:
            page.parameters.setdefault(what, kind)
        page.result = element(function.result, one.type)
    page.names += [f.full_name() for f in table.c_functions(function) if f.full_name() not in page.names]
    if function.context:
        page.notes.append(f"Each also on a context, as `{prefix}ctx_...` with `shmem_ctx_t ctx` as the first argument.")
    if function.generic_set:
        page.notes.append(f"C11 and C++ choose the type by the arguments: `{name}(...)`.")
    if function.kernel:
        page.notes.append("CUDA kernels call it by this name, too." + (f" Warps and blocks call it together: `{name.replace('shmem_', 'shmemx_', 1)}_warp`, `..._block`." if function.scopes else ""))


def of_headers(pages):
    for header in BY_HAND:
        text = (ROOT / "include" / header).read_text(encoding="utf-8")
        for doc, declaration in re.findall(r"((?:^///.*\n)+)^RAILSHMEM\w*_API ([^;]*);", text, re.M):
            words = "\n".join(line[3:].strip() for line in doc.splitlines())
            result, name, parameters = re.fullmatch(r"(.*?)(\w+)\((.*)\)", " ".join(declaration.split())).groups()
            first, *rest = sentences(words)
            page = pages.setdefault(name, Page(name, header, header, first, EXTENSION, " ".join(rest)))
            page.prototype(result.strip(), name, model.split_parameters(parameters))
            page.names.append(name)
            page.parameters |= {what: kind for kind, what in model.split_parameters(parameters)}
            page.result = result.strip()


def programs():
    return [(path.relative_to(ROOT), path.read_text(encoding="utf-8").splitlines()) for pattern in PROGRAMS for path in sorted(ROOT.glob(pattern))]


def example(page, sources):
    """A few lines of a program that calls the function."""
    wanted = re.compile(r"\b(" + "|".join(map(re.escape, [page.name, *page.names])) + r")\(")
    for path, lines in sources:
        place = next((i for i, line in enumerate(lines) if wanted.search(line) and not line.lstrip().startswith(("//", "*"))), None)
        if place is None:
            continue
        shown = textwrap.dedent("\n".join(lines[max(0, place - 4):place + 5])).strip("\n")
        depth = "../../"
        return [f"From [{path}]({depth}{path}):", "", "```c", shown, "```"]
    return ["```c", re.sub(r"\s+", " ", call(page)), "```"]


def call(page):
    what = ", ".join(name for name in page.parameters if name) or ""
    head = "" if page.result.endswith("void") else f"{page.result.replace('TYPE', 'long')} result = "
    return f"{head}{page.names[0]}({what});"


def returns(page):
    if page.result.replace("RAILSHMEM_NORETURN ", "") == "void":
        return "Nothing."
    word = r"\b(returns?|gives?|0, or|0 or|or nonzero|or 0|NULL|-1)\b"
    short = page.name.removeprefix("shmemx_").removeprefix("shmem_")
    told = [part for part in sentences(page.sentence) if re.search(word, part, re.I)] or [
        part for part in sentences(page.details) if re.search(word, part, re.I) and (part.startswith("Returns") or re.search(rf"\b{short}\b", part))]
    return " ".join(f"{part[0].upper()}{part[1:].rstrip(';.')}." for part in dict.fromkeys(told)) or f"A value of type `{page.result}`: the result."


def render(page, sources, family):
    # Names that begin alike come in the order of their lengths: shmem_put, then shmem_put_nbi.
    lines = ["---", "search:", f"  boost: {min(20, 2000 / len(page.name) ** 2):.1f}", f"tags: [{page.name.removeprefix('shmemx_').removeprefix('shmem_')}]", "---", f"# {page.name}", "", page.sentence, "", "## Synopsis { data-search-exclude }", "", "```c", f"#include <{page.header}>", ""]
    lines += [*dict.fromkeys(page.synopsis), "```", ""]
    lines += [f"- {note.rstrip('.')}." for note in dict.fromkeys(page.notes)] + [""]
    if any(page.parameters):
        lines += ["## Arguments { data-search-exclude }", "", "| name | type | meaning |", "| --- | --- | --- |"]
        lines += [f"| `{name}` | `{kind}` | {arguments.meaning(page.name, name, kind)} |" for name, kind in page.parameters.items() if name] + [""]
    lines += ["## Returns", "", returns(page), "", "## Errors { data-search-exclude }", "", arguments.errors(page), ""]
    if page.details:
        lines += ["## Details", "", page.details, ""]
    lines += ["## Standard { data-search-exclude }", "", page.section, "", "## Example { data-search-exclude }", "", *example(page, sources), "", "## See also { data-search-exclude }", ""]
    lines += [", ".join(f"[{other}]({other}.md)" for other in family if other != page.name) or "[All functions](README.md)", ""]
    if len(page.names) > 1:
        # A heading for each, because the search finds headings first.
        lines += ["## All names", ""] + [f"###### {name}\n" for name in page.names if name != page.name]
    return "\n".join(lines)


def pages():
    """{path: text} of all pages and of their index."""
    found, sources = {}, programs()
    of_table(found)
    of_headers(found)
    families = {}
    for page in found.values():
        families.setdefault(page.title, []).append(page.name)
    out = {f"{FOLDER}/{page.name}.md": render(page, sources, families[page.title]) for page in found.values()}
    index = ["# Functions by name", "", f"For users: {len(found)} functions, a page for each. A function for several types has one page under its name without a type. The search finds them, too.", "",
             "| function | what it does |", "| --- | --- |"]
    index += [f"| [`{name}`]({name}.md) | {found[name].sentence} |" for name in sorted(found)]
    out[f"{FOLDER}/README.md"] = "\n".join(index) + "\n"
    return out
