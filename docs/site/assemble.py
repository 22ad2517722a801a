#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts the pages of the documentation site together.

usage: assemble.py FOLDER | --check

Copies every Markdown file of the sources to FOLDER/pages, at its path, with the files that it shows or links to, and
writes FOLDER/mkdocs.yml: the settings of docs/site/mkdocs.yml and the navigation. A link to a folder becomes one to its
README.md, or to a list of its files. Mermaid diagrams and the plots that a page asks for become SVG files, so that a page
asks no other server for anything. --check only asks whether the navigation has each page, which needs no package.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import gen_api  # of scripts
import functions  # beside this script
import plots  # beside this script

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SETTINGS = ROOT / "docs/site/mkdocs.yml"
# The tables that pages are made from: on the site a link to a table leads to its pages.
MADE_FROM = {"src/base/env_table.inc": "docs/env.md", "scripts/api/table.toml": "docs/reference/README.md"}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
PLOTS = re.compile(r"^<!-- plots (\S+) -->$")
FENCE = re.compile(r"^ {0,3}(```|~~~)")

# Part of the site -> its pages: files, or folders whose pages come in the order of their names.
PARTS = {
    "Start": ["README.md", "docs/README.md", "docs/building.md", "docs/tutorials", "examples/README.md", "docs/troubleshooting.md"],
    "Guides": ["docs/python.md", "docs/nvshmem4py.md", "docs/triton.md", "docs/gpu.md", "docs/collectives.md", "docs/overlap.md", "docs/moe.md", "docs/debugging.md",
               "docs/tracing.md", "docs/porting.md", "docs/security.md", "docs/packages.md", "docs/licenses.md", "docs/platforms.md", "docs/two-hosts.md", "bootstrap/README.md", "transports/ofi/README.md", "perftest"],
    "Reference": ["docs/functions/README.md", "docs/env.md", "docs/limits.md", "docs/memory_model.md", "docs/reference"],
    "Performance": ["docs/performance.md", "docs/performance/gpu.md", "docs/performance/training.md"],
    "Inside": ["docs/architecture.md", "docs/glossary.md", "docs/staging.md", "src", "docs/gotchas.md", "docs/decisions", "tests/README.md", "docs/writing.md", "CONTRIBUTING.md", "SECURITY.md", "docs/abi.md", "docs/release.md", "docs/benchmarks.md", "docs/figures.md", "python/README.md", "CHANGELOG.md"],
}


def known_pages():
    listed = subprocess.run(["scripts/list_sources.sh", "text"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return sorted(path for path in listed.stdout.split() if path.endswith(".md"))


def made_pages():
    """{path: text} of the pages that are in no file: the functions, and what scripts/gen_api.py writes."""
    return functions.pages() | {path: text for path, text in gen_api.outputs().items() if path.endswith(".md")}


def about():
    """YAML of what the site says of itself: version, commit, repository."""
    version = re.search(r"project\(RailSHMEM VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

    def git(*words):
        done = subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        return done.stdout.strip()

    commit = git("rev-parse", "--short", "HEAD")
    remote = os.environ.get("REPOSITORY") or re.sub(r"^git@([^:]+):", r"https://\1/", git("remote", "get-url", "origin"))
    lines = [f"site_name: RailSHMEM {version}", f"copyright: RailSHMEM {version}" + (f", commit {commit}" if commit else "")]
    if remote.startswith("http"):
        lines += [f"repo_url: {remote.removesuffix('.git')}", "repo_name: Repository"]
    return "\n".join(lines) + "\n"


def title(text):
    """The first heading, as a YAML text."""
    heading = next(line for line in text.splitlines() if line.startswith("# "))
    return json.dumps(heading[2:].replace("`", ""), ensure_ascii=False)


def navigation(texts):
    """Lines of YAML. A page that no part names is an error, so that none is forgotten."""
    lines, left = ["nav:"], {page for page in texts if page == f"{functions.FOLDER}/README.md" or not page.startswith(functions.FOLDER)}
    for part, places in PARTS.items():
        lines.append(f"  - {part}:")
        for place in places:
            found = [place] if place in left else [page for page in texts if page in left and page.startswith(place + "/")]
            if not found:
                sys.exit(f"assemble: {part} names {place}, which has no pages; change PARTS in docs/site/assemble.py")
            found.sort(key=lambda page: (not page.endswith("README.md"), page))
            if len(found) > 1:
                lines.append(f"      - {place.rsplit('/', 1)[-1].capitalize()}:")
            margin = "          " if len(found) > 1 else "      "
            lines += [f"{margin}- {title(texts[page])}: {page}" for page in found]
            left -= set(found)
    if left:
        sys.exit(f"assemble: no part of the site has {', '.join(sorted(left))}; add to PARTS in docs/site/assemble.py")
    return lines


class Assembly:
    def __init__(self, folder, texts):
        self.folder, self.texts = folder, texts

    def target(self, page, link):
        """Where a link of that page leads on the site."""
        path, hash_mark, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return link
        place = os.path.normpath(os.path.join(os.path.dirname(page), path))
        place = MADE_FROM.get(place, place)
        if (ROOT / place).is_dir():
            readme = f"{place}/README.md"
            place = readme if readme in self.texts else self.listing(place)
        elif not place.endswith(".md"):
            self.copy(place)
        return os.path.relpath(place, os.path.dirname(page) or ".") + hash_mark + anchor

    def copy(self, place):
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / place, self.folder / place)

    def listing(self, place):
        """A text file that names what is in a folder."""
        names = sorted(entry.name + "/" * entry.is_dir() for entry in (ROOT / place).iterdir())
        (self.folder / place).mkdir(parents=True, exist_ok=True)
        (self.folder / place / "files.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
        return f"{place}/files.txt"

    def picture(self, page, file, text, kind):
        """Markdown of a drawn file, which a click shows in its full size."""
        place = os.path.relpath(file, os.path.dirname(page) or ".")
        return f"[![{text}]({place}){{ .{kind} }}]({place})"

    def diagram(self, page, source):
        """A Mermaid diagram as a picture; as its source where the program that draws is missing. Drawn ones are kept."""
        try:
            import mermaidx
        except ImportError:
            return ["```text", *source, "```"]
        text = "\n".join(source)
        name = hashlib.sha256(text.encode()).hexdigest()[:16] + ".svg"
        kept = self.folder.parent / "diagrams" / name
        if not kept.is_file():
            kept.parent.mkdir(exist_ok=True)
            mermaidx.render(text).save(str(kept))
        (self.folder / "diagrams").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept, self.folder / "diagrams" / name)
        return [self.picture(page, f"diagrams/{name}", "diagram", "diagram")]

    def plots(self, page, what):
        drawn = plots.draw(what, self.folder / "plots")
        if drawn is None:
            return ["The plots are left out: matplotlib is missing where this site was built."]
        lines, before = [], ""
        for heading, text, file in drawn:
            lines += [f"## {heading}", ""] if heading != before else []
            lines += [self.picture(page, f"plots/{file}", text, "plot"), ""]
            before = heading
        return lines

    def write(self, page):
        fenced, lines, source = None, [], None
        for line in self.texts[page].splitlines():
            mark = FENCE.match(line)
            if mark and fenced in (None, mark[1]):
                fenced = None if fenced else mark[1]
                if fenced and line.strip() == "```mermaid":
                    source = []
                    continue
                if source is not None:
                    line, source = "\n".join(self.diagram(page, source)), None
            elif source is not None:
                source.append(line)
                continue
            elif not fenced:
                asked = PLOTS.match(line)
                line = "\n".join(self.plots(page, asked[1])) if asked else LINK.sub(lambda m: m[1] + self.target(page, m[2]) + m[3], line)
            lines.append(line)
        (self.folder / page).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / page).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in known_pages()} | made_pages()
    links = navigation(texts)
    if sys.argv[1] == "--check":
        return
    out = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(out / "pages", ignore_errors=True)
    assembly = Assembly(out / "pages", texts)
    for page in texts:
        assembly.write(page)
    settings = SETTINGS.read_text(encoding="utf-8") + about() + "docs_dir: pages\nsite_dir: site\n" + "\n".join(links) + "\n"
    for name in ("extra.css", "iframe-worker.js"):
        shutil.copyfile(SETTINGS.with_name(name), out / "pages" / name)
    (out / "mkdocs.yml").write_text(settings, encoding="utf-8")


if __name__ == "__main__":
    main()
