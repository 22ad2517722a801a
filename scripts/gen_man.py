#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the man pages.

usage: gen_man.py OUT VERSION [PROGRAM...]

OUT/man3: a page for each group of functions in scripts/api/table.toml and each function of shmemx.h, and one line for every other name, which
leads there. OUT/man7: railshmem, with the environment. OUT/man1: a page for each PROGRAM, from what it says to --help,
and for oshcc.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "api"))
import environment
import lists

HEADER_OF = {"shmemx": "shmemx.h", "stream": "shmemx.h", "reducescatter": "shmemx.h", "reduce16": "shmemx.h"}
HELP_HEAD = re.compile(r"^  (\S.*?)(?: {2,}(\S.*))?$")


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def paragraphs(text):
    """Markdown of a comment: paragraphs, lists, code in back quotes."""
    out = []
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = escaped(part.replace("`", "")).split("\n")
        out.append(".PP")
        out += [re.sub(r"^(\\-|\*) ", ".IP * 2\n", line) for line in lines]
    return out


class Page:
    def __init__(self, name, section, version):
        self.name, self.section = name, section
        self.lines = [f'.TH "{name.upper()}" "{section}" "" "RailSHMEM {version}" "RailSHMEM manual"']

    def add(self, heading, lines):
        if lines:
            self.lines += [f".SH {heading}", *lines]

    def write(self, folder):
        place = folder / f"man{self.section}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{self.name}.{self.section}").write_text("\n".join(self.lines) + "\n", encoding="utf-8")


def generic(name):
    """shmem_TYPENAME_put and shmem_putSIZE -> shmem_put."""
    return name.replace("TYPENAME_", "").replace("SIZE", "")


def synopsis(family, functions):
    lines = [".nf", f"#include <{HEADER_OF.get(family.name, 'shmem.h')}>"]
    for function in functions:
        result = function.result.replace("RAILSHMEM_NORETURN ", "")
        shown = [escaped(f"{result} {function.name}({', '.join(function.parameters)});")]
        if function.has_context:
            name = function.name.replace("shmem_", "shmem_ctx_", 1)
            shown.append(escaped(f"{result} {name}(shmem_ctx_t ctx, {', '.join(function.parameters)});"))
        if shown[0] not in lines:  # several rows of types may share a function
            lines += ["", *shown]
    return lines + [".fi"]


def types(functions):
    lines = []
    for rows in dict.fromkeys(tuple(function.rows) for function in functions if function.rows):
        names = ", ".join(row[0] if len(row) == 1 or row[0] == row[1] else f"{row[0]} ({row[1]})" for row in rows)
        lines += [".PP", escaped(("SIZE, bits of an element, is one of " if len(rows[0]) == 1 else "TYPENAME (TYPE) is one of ") +
                                 names + ".")]
    return lines


def function_pages(out, version):
    written = set()
    for family in lists.families():
        groups = list(family.by_doc.items())
        first_names = [generic(functions[0].name) for _, functions in groups]
        for (doc, functions), name in zip(groups, first_names):
            heading, section, rest = lists.describe(doc)
            if family.name == "shmemx":
                rest = "\n".join(doc)
                heading = heading[0].lower() + heading[1:]
            page = Page(name, 3, version)
            names = list(dict.fromkeys(generic(function.name) for function in functions))
            page.add("NAME", [escaped(", ".join(names)) + " \\- " + escaped(heading[0].lower() + heading[1:])])
            page.add("SYNOPSIS", synopsis(family, functions))
            page.add("DESCRIPTION", paragraphs(rest or heading + ".") + types(functions))
            page.add("STANDARD", [escaped(section + "." if section else "An extension of RailSHMEM.")])
            page.add("SEE ALSO", [escaped(", ".join([f"{other}(3)" for other in first_names if other != name] + ["railshmem(7)"]))])
            page.write(out)
            written.add(name)
    for family in lists.families():
        for functions in family.by_doc.values():
            target = generic(functions[0].name)
            for name in {n for f in functions for n in [*f.names(), generic(f.name)]} - written:
                (out / "man3" / f"{name}.3").write_text(f".so man3/{target}.3\n", encoding="utf-8")
                written.add(name)


def environment_lines():
    lines = []
    for _, _, default, name, meaning, *_ in environment.rows(environment.TABLE.read_text(encoding="utf-8")):
        meaning = "".join(re.findall(environment.STRING, meaning))
        lines += [".TP", f".B {escaped(name)}", escaped(f"{meaning} Default: {default or 'none'}.")]
    return lines


def overview(out, version):
    readme = (lists.ROOT / "README.md").read_text(encoding="utf-8")
    about = next(part for part in re.split(r"\n\s*\n", readme) if part.startswith("RailSHMEM is"))
    page = Page("railshmem", 7, version)
    page.add("NAME", ["railshmem \\- OpenSHMEM for hosts and CUDA kernels, over every NIC"])
    page.add("DESCRIPTION", paragraphs(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", about)))
    page.add("ENVIRONMENT", [escaped("A malformed value is an error. SHMEM_INFO=1 prints the values in force."), *environment_lines()])
    page.add("SEE ALSO", ["oshrun(1), oshcc(1), shmem_info(1), shmem_perf(1), shmem_init(3), shmem_put(3)"])
    page.write(out)


def program_page(out, version, program):
    """From CLI11's help: a description, then usage, then options as '  NAMES   text' with text that goes on below."""
    name = pathlib.Path(program).name
    text = subprocess.run([program, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    about, _, rest = text.partition("Usage:")
    page, usage = Page(name, 1, version), []
    parts = {"OPTIONS": [], "EXIT STATUS": [], "EXAMPLES": []}
    lines = parts["OPTIONS"]
    for line in ("Usage:" + rest).splitlines():
        if line.startswith("Usage:"):
            usage.append(line.removeprefix("Usage:").strip())
        elif line in ("Exit status:", "Examples:"):
            lines = parts[line.rstrip(":").upper()]
        elif match := HELP_HEAD.match(line):
            lines += [".TP", f".B {escaped(match[1])}", *([escaped(match[2])] if match[2] else [])]
        elif line.startswith("   ") and lines:
            lines.append(escaped(line.strip()))
    about = " ".join(about.split()).removeprefix(f"{name}: ").rstrip(".")
    page.add("NAME", [f"{escaped(name)} \\- {escaped(about[0].lower() + about[1:])}"])
    page.add("SYNOPSIS", [escaped("\n.br\n".join(dict.fromkeys(usage))).replace("\\&.br", ".br")])
    for heading, text_of_part in parts.items():
        page.add(heading, text_of_part)
    page.add("SEE ALSO", ["railshmem(7)"])
    page.write(out)


def compiler_page(out, version):
    page = Page("oshcc", 1, version)
    page.add("NAME", ["oshcc, oshc++, oshcxx, oshCC, oshCXX \\- compile and link OpenSHMEM programs"])
    page.add("SYNOPSIS", ["oshcc [options of the compiler] file ...", ".br", "oshc++ [options of the compiler] file ..."])
    page.add("DESCRIPTION", paragraphs(
        "Each calls a compiler with the folders of RailSHMEM's headers and library, which it finds from its own place, and "
        "passes every argument on. oshcc calls the C compiler that configured the library, the other names its C++ compiler."))
    page.add("OPTIONS", [".TP", ".B \\-show, \\-\\-showme", "Prints the command and stops.",
                         ".TP", ".B \\-\\-showme:compile, \\-\\-showme:link", "Prints the options of that stage and stops."])
    page.add("ENVIRONMENT", [".TP", ".B OSHCC_CC, OSHCXX_CXX", "The compiler to call instead; nvcc is one. CC and CXX are ignored, since "
                             "makefiles set them to oshcc and oshc++."])
    page.add("SEE ALSO", ["oshrun(1), railshmem(7)"])
    page.write(out)
    for name in ("oshc++", "oshcxx", "oshCC", "oshCXX"):
        (out / "man1" / f"{name}.1").write_text(".so man1/oshcc.1\n", encoding="utf-8")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out, version = pathlib.Path(sys.argv[1]), sys.argv[2]
    shutil.rmtree(out, ignore_errors=True)
    function_pages(out, version)
    overview(out, version)
    compiler_page(out, version)
    for program in sys.argv[3:]:
        program_page(out, version, program)


if __name__ == "__main__":
    main()
