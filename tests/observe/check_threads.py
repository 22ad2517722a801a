#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the threads of a job, and those that the sources start, with the table in docs/architecture.md.

check_threads.py OSHRUN PROGRAM EXPECTED [NAME=VALUE...]      EXPECTED: names with commas, which the job must have
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("src", "transports", "bootstrap", "overlap", "moe", "perftest/harness")
NAME = re.compile(r'(create_memory_file\()?"(railshmem-[a-z]+)"')
UNNAMED = re.compile(r"\bstd::j?thread\s*[({]|\bstd::j?thread \w+[({]")


def listed():
    """The names in the table; railshmem-proxN stands for all numbers."""
    section = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").split("\n## Threads\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `(railshmem-\w+)`", section, re.MULTILINE))


def named_in_sources():
    names, unnamed = set(), []
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.[ch]*")):
            text = path.read_text(encoding="utf-8")
            names |= {name for memory, name in NAME.findall(text) if not memory}
            if UNNAMED.search(text):
                unnamed.append(str(path.relative_to(ROOT)))
    return names, unnamed


def main():
    oshrun, program, expected, *settings = sys.argv[1:]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SHMEM_", "SMA_", "RAILSHMEM_", "PMI"))}
    env.update(setting.replace("+", ";").split("=", 1) for setting in settings)
    done = subprocess.run([oshrun, "-n", "2", "--timeout", "60", program], env=env, text=True, capture_output=True, check=False)
    print(done.stdout, done.stderr, sep="")
    running = [line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith("thread ")]
    own = {re.sub(r"prox\d$", "proxN", name) for name in running if name.startswith("railshmem-")}
    table = listed()
    sources, unnamed = named_in_sources()
    sources = {"railshmem-proxN" if name == "railshmem-prox" else name for name in sources}
    wrong = []
    if done.returncode != 0:
        wrong.append(f"status {done.returncode}: the signal did not reach the thread that waits for it, or the job failed")
    wrong += [f"{name} runs, and docs/architecture.md has no such thread" for name in sorted(own - table)]
    wrong += [f"{name} does not run" for name in sorted(set(expected.split(",")) - own)]
    wrong += [f"{name} is started by the sources, and docs/architecture.md does not list it" for name in sorted(sources - table)]
    wrong += [f"docs/architecture.md lists {name}, which no source starts" for name in sorted(table - sources)]
    wrong += [f"{path} starts a thread without start_thread() of src/base/thread.h" for path in unnamed]
    if os.path.basename(program)[:15] not in running:
        wrong.append("the main thread has lost its name")
    for line in wrong:
        print(f"wrong: {line}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
