#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs and commands of README.md and of the tutorials, as a reader would type them, and compares what they print:
documents_test.py SOURCE PREFIX [NVCC]. The home directory holds the installation PREFIX as "railshmem".
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, PREFIX = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
NVCC = shutil.which(sys.argv[3]) if len(sys.argv) > 3 else None
TUTORIALS = ["01-hello", "02-ring", "03-put-signal-pipeline", "04-halo-exchange", "05-histogram", "06-teams"]
# Commands of README that other tests run: builds, the Python package, and what needs a GPU.
ELSEWHERE = [r"scripts/quickstart\.sh\b", r"scripts/test\.sh\b", r"pip install \./python$", r"oshrun -n 2 python hello\.py$", r"oshrun -n 2 \./ring$"]
FILE = re.compile(r"(?://|#) ([a-z_]+\.(?:c|cpp|cu|py))$")
LIMIT_S = 170


def fail(what):
    sys.exit(f"failed: {what}")


def blocks(text):
    """(language, lines) of each fenced block."""
    for language, body in re.findall(r"^```([a-z]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield language, body.splitlines()


def section(text, title):
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^\1 |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        fail(f"there is no section '{title}'")
    return found.group(2)


class Reader:
    """A shell in a folder of its own; what it exports stays."""

    def __init__(self, folder):
        self.folder, self.exports = pathlib.Path(folder), []
        home = self.folder / "home"
        home.mkdir()
        (home / "railshmem").symlink_to(PREFIX)
        (self.folder / "examples").symlink_to(SOURCE / "examples")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SHMEM_", "RAILSHMEM_", "OSHCC", "OSHCXX", "LD_"))}
        self.environment.update(HOME=str(home), SHMEM_SYMMETRIC_SIZE="48M", PKG_CONFIG_PATH="")
        if NVCC:
            self.environment["PATH"] += ":" + os.path.dirname(NVCC)

    def type(self, command):
        """What the command prints."""
        script = "\n".join(["set -euo pipefail", *self.exports, command])
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode != 0 or done.stderr:
            fail(f"'{command}' ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        if command.startswith("export "):
            self.exports.append(command)
        return done.stdout


def run_readme(reader):
    text = (SOURCE / "README.md").read_text()
    written, ran = set(), []
    for language, lines in blocks(section(text, "Programs")):
        if language != "sh":
            name = FILE.fullmatch(lines[0])
            if not name:
                fail(f"README: a program does not begin with its file's name: {lines[0]}")
            (reader.folder / name.group(1)).write_text("\n".join(lines) + "\n")
            written.add(name.group(1))
            continue
        for command in lines:
            if any(re.match(pattern, command) for pattern in ELSEWHERE) or (command.startswith("nvcc ") and not NVCC):
                print(f"not run here: {command}")
                continue
            printed = reader.type(command)
            ran.append(command)
            if command.startswith("oshrun -n 2 ") and "my left neighbour" not in printed:
                fail(f"'{command}' printed {printed!r}")
    if written != {"hello.c", "hello.cpp", "ring.cu", "hello.py"}:
        fail(f"README has the programs {sorted(written)}")
    for needed in ("export PATH=", "oshcc ", "oshc++ ", "oshrun -n 2 ./hello", "oshrun -n 2 ./hello_cpp"):
        if not any(command.startswith(needed) for command in ran):
            fail(f"README has no command '{needed}' any more")


def run_tutorial(reader, name):
    found = list(blocks(section((SOURCE / f"docs/tutorials/{name}.md").read_text(), "Build and run")))
    if len(found) < 2:
        fail(f"{name}: commands and expected output are missing")
    (_, commands), (_, expected) = found[:2]
    printed = [line for command in commands for line in reader.type(command).splitlines()]
    if sorted(printed) != sorted(expected):
        fail(f"{name}: expected\n" + "\n".join(expected) + "\nprinted\n" + "\n".join(printed))


def check_files():
    """Files that the tutorials name are there."""
    for page in sorted((SOURCE / "docs/tutorials").glob("*.md")):
        for path in re.findall(r"\b(?:examples|python/bench)/[\w.]+\.\w+", page.read_text()):
            if not (SOURCE / path).exists():
                fail(f"{page.name} names {path}, which does not exist")


with tempfile.TemporaryDirectory() as folder:
    shell = Reader(folder)
    run_readme(shell)
    for tutorial in TUTORIALS:
        run_tutorial(shell, tutorial)
check_files()
