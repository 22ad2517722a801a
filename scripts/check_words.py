#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Refuses retired words in names, comments, messages and pages; docs/glossary.md has the words that replace them.
  scripts/check_words.py [ROOT]     the tracked files of ROOT (default: this repository)

A name is split at underscores and capitals: openCourier has the word "courier". A phrase may continue in the next line of a
comment."""
import pathlib
import re
import subprocess
import sys

# Retired word -> term. A word that the field uses otherwise has its files in ALLOWED.
WORDS = {
    "courier": "message channel",
    "couriers": "message channels",
    "letterhead": "header builder",
    "nudger": "doorbell",
    "nudge": "doorbell message",
    "nudges": "doorbell messages",
    "errand": "task",
    "errands": "task queue",
    "parked": "deferred",
    "witness": "death detector",
    "lot": "scratch slot",
    "lots": "scratch slots",
    "card": "descriptor",
    "cards": "descriptors",
    "sick": "suspect",
    "calming": "recovering",
    "crew": "process group",
    "lobby": "pending connections",
    "door": "listener",
    "doors": "listeners",
    "enrolment": "rendezvous",
    "enrol": "join",
    "enroll": "join",
}
PHRASES = {
    "held write": "coalesced write",
    "is none": "'does not exist', or say what is missing",
    "there are none": "'none exist', or say what is missing",
    "for ever": "forever, or say what ends it",
    "lies": "is",
    "so long as": "while",
    "the other way round": "say it in full",
    "what comes": "name the thing",
}

# (word or phrase, pattern of paths): why the field uses it
ALLOWED = {
    ("card|cards", r"cmake/packages/description\.txt|share/|tests/support/nic_machines\.h|scripts/compare_(moe|nvshmem)\.sh"): "network cards in a computer",
    ("card|cards", r"moe/|python/railshmem/symm_mem/"): "changes with the next run on GPUs",
    ("card|cards", r"src/cuda/device_chunks\.|src/stream/team_scratch\.|src/gpu/(device_region|symmetric_buffers)\.cpp|"
                   r"tests/unit/cuda/device_chunks_test\.cpp|tests/gpu/one_gpu/memory/"): "ChunkCard changes with the next run on GPUs",
    ("parked", r"src/globals/thread_park\.cpp"): "a parked thread is a term of the field",
    ("lies", r"tests/flaky/|tests/support/flaky_"): "a counter that does not say the truth",
    ("lies", r"tests/gpu/(multi_gpu/registered_buffers\.cpp|one_gpu/memory/mapping\.cu)"): "changes with the next run on GPUs",
    ("there are none", r"tests/gpu/one_gpu/rma_gpu_test\.cu"): "changes with the next run on GPUs",
    ("|".join([*PHRASES, "door"]), r"docs/writing\.md"): "says what not to write",
}
# Neither the table nor what is history or made by others.
SKIPPED = re.compile(r"scripts/check_words\.py|tests/lint/words_test\.sh|CHANGELOG\.md|.*\.(?:jsonl?|csv|png|svg|pdf|ico|gz)")

BREAK = r"(?:\s+(?:(?://[/!]?<?|#|\*)\s*)?)"


def pattern_of_word(word):
    """The word as a part of a name: alone, between underscores, or by its capitals."""
    return re.compile(rf"\w*?(?<![A-Za-z]){word}(?![a-z])\w*|\w*?{word.capitalize()}(?![a-z])\w*|\w*?(?<![A-Za-z]){word.upper()}(?![A-Za-z])\w*")


def pattern_of_phrase(phrase):
    return re.compile(rf"\b[{phrase[0].upper()}{phrase[0]}]{phrase[1:].replace(' ', BREAK)}\b")


# (what every file with a match contains, in lower case; pattern; name for ALLOWED; term)
RULES = [(word, pattern_of_word(word), word, term) for word, term in WORDS.items()]
RULES += [(max(phrase.split(), key=len), pattern_of_phrase(phrase), phrase, term) for phrase, term in PHRASES.items()]


def is_allowed(name, path):
    return any(name in names.split("|") and re.match(paths, path) for (names, paths) in ALLOWED)


def faults_of(path, text):
    """(offset, what was found, what to write) of a file."""
    lower = text.lower()
    for hint, pattern, name, term in RULES:
        if hint in lower and not is_allowed(name, path):
            for match in pattern.finditer(text):
                yield match.start(), " ".join(match[0].split()), term


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    paths = listed.stdout.splitlines() if listed.returncode == 0 else [
        str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and not str(p.relative_to(root)).startswith(("build", "."))]
    nfaults = nfiles = 0
    for path in paths:
        file = root / path
        if SKIPPED.fullmatch(path) or not file.is_file() or file.is_symlink():
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        nfiles += 1
        for place, text_of_it in ((f"{path} (its name)", pathlib.PurePath(path).name), (path, text)):
            for offset, found, term in faults_of(path, text_of_it):
                line = text_of_it.count("\n", 0, offset) + 1
                print(f"{place}:{line}: '{found}' is retired; write: {term} (docs/glossary.md, docs/writing.md)")
                nfaults += 1
    print(f"check_words: {nfiles} files, {nfaults} retired words")
    return nfaults != 0


if __name__ == "__main__":
    sys.exit(main())
