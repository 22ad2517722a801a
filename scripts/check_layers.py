#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when an #include breaks the dependency rule of docs/architecture.md, or a file is too long.

usage: check_layers.py [ROOT]
"""
import pathlib
import re
import sys

# folder -> folders it may include besides itself; the longest matching prefix of a path is its folder.
PUBLIC = ["include"]
DETAIL = ["include"]
RULE = {
    "include": [],
    "src/base": [],
    "src/observe": ["src/base"],
    "src/plugin": ["src/base"] + DETAIL,
    "src/cuda": ["src/plugin", "src/base"] + DETAIL,
    "src/topology": ["src/base"],
    "src/heap": ["src/plugin", "src/base"] + DETAIL,
    "src/gpu": ["src/cuda", "src/heap", "src/topology", "src/channel", "src/plugin", "src/base"] + DETAIL,
    "src/channel": ["src/base"] + DETAIL,
    "src/proxy/rails": ["src/plugin", "src/base"],
    "src/proxy/post": ["src/proxy/rails", "src/channel", "src/plugin", "src/base"] + DETAIL,
    "src/proxy/failover": ["src/proxy/post", "src/proxy/rails", "src/plugin", "src/base"],
    "src/proxy/staging": ["src/proxy/post", "src/proxy/rails", "src/observe", "src/plugin", "src/base"],
    "src/proxy/source": ["src/proxy/staging", "src/proxy/failover", "src/proxy/post", "src/proxy/rails", "src/plugin", "src/base"],
    "src/proxy/target": ["src/proxy/source", "src/proxy/staging", "src/proxy/failover", "src/proxy/post", "src/proxy/rails", "src/observe", "src/plugin", "src/base"],
    "src/proxy/flush": ["src/proxy/target", "src/proxy/source", "src/proxy/failover", "src/proxy/post", "src/proxy/rails", "src/plugin", "src/base"],
    "src/proxy": ["src/proxy", "src/observe", "src/channel", "src/plugin", "src/base"] + DETAIL,
    "src/rma": ["src/topology", "src/plugin", "src/base"] + DETAIL,
    "src/team": ["src/rma", "src/topology", "src/plugin", "src/base"] + DETAIL,
    "src/collective": ["src/team", "src/rma", "src/topology", "src/plugin", "src/base"] + DETAIL,
    "src/active": ["src/collective", "src/team", "src/rma", "src/topology", "src/plugin", "src/base"] + DETAIL,
    "src/check": ["src/active", "src/collective", "src/team", "src/rma", "src/topology", "src/plugin", "src/base"] + DETAIL,
    "src/world": ["src/gpu", "src/cuda", "src/observe", "src/active", "src/collective", "src/team", "src/rma", "src/heap", "src/topology", "src/channel", "src/plugin", "src/base"] + DETAIL,
    "src/api": ["src/gpu", "src/cuda", "src/check", "src/observe", "src/world", "src/active", "src/collective", "src/team", "src/rma", "src/heap", "src/topology", "src/channel", "src/plugin",
                "src/base"] + PUBLIC,
    "bootstrap": ["bootstrap/common", "src/plugin", "src/base"],
    "transports": ["src/observe", "src/proxy", "src/channel", "src/heap", "src/topology", "src/plugin", "src/base"] + DETAIL,
    "perftest": PUBLIC + ["perftest/ring", "perftest/engine", "perftest/peers"],
    "perftest/device": ["perftest"] + PUBLIC,  # kernels; the only part of perftest that sees CUDA
    "perftest/ring": ["perftest", "src/channel", "src/base"] + PUBLIC,  # the command ring without a proxy
    "perftest/engine": ["perftest", "src/proxy", "src/channel", "src/plugin", "src/base"] + PUBLIC,  # no network
    "perftest/peers": ["perftest", "src/proxy", "src/plugin", "src/base", "transports/ofi"] + PUBLIC,  # peers that are not there
    "examples": PUBLIC,
    "tests/conformance": PUBLIC + ["tests/support"],
    "tests/fault": PUBLIC,
}
# Sub-folders of these are siblings that must not see each other; the files directly inside (registries) see them all.
SIBLINGS = ["bootstrap", "transports"]
SHARED_SIBLINGS = ["bootstrap/common"]
# Vendor headers and the only folders that may include them.
VENDOR = {
    r"rdma/": ["transports/ofi", "perftest"],
    r"cuda": ["src/cuda", "include/compat", "include/shmem/device", "include/shmem/detail", "perftest/device"],
    r"mpi\.h$": ["bootstrap/mpi"],
    r"pmix": ["bootstrap/pmix"],
    r"hwloc": ["src/topology", "bootstrap/local/oshrun", "perftest"],
}
MAX_LINES = 500
LONG_FILES_ALLOWED = re.compile(r"(^tests/|\.inc$|type_lists\.h$)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    best = ""
    for folder in RULE:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return best


def sibling_of(path):
    """bootstrap/tcp/x.h -> bootstrap/tcp; None for files directly in a registry folder or elsewhere."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in SIBLINGS and len(parts) > 2 else None


def target_of(name, source):
    """The repository path that an include means, or None for system headers."""
    if name.startswith(("src/", "bootstrap/", "transports/", "perftest/", "tests/", "include/")):
        return name
    if name.startswith(("shmem/", "mpp/")) or name in ("shmem.h", "shmemx.h", "pshmem.h"):
        return "include/" + name
    return None


def check_include(path, line, quote, name):
    for pattern, allowed in VENDOR.items():
        if re.match(pattern, name) and quote == "<" and not any(path.startswith(a) for a in allowed):
            yield f"{path}:{line}: <{name}> belongs into {', '.join(allowed)} only"
    target = target_of(name, path)
    if target is None:
        return
    here, there = folder_of(path), folder_of(target)
    mine, theirs = sibling_of(path), sibling_of(target)
    if mine and theirs and mine != theirs and theirs not in SHARED_SIBLINGS:
        yield f"{path}:{line}: {mine} may not include {theirs}"
    elif here != there and not any(target.startswith(allowed + "/") for allowed in RULE[here]):
        yield f"{path}:{line}: {here} may not include {target}"


def check(root):
    seen = 0
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".hpp", ".cpp", ".c", ".cu", ".cuh", ".inc") or relative.startswith("build"):
            continue
        lines = path.read_text().splitlines()
        if len(lines) > MAX_LINES and not LONG_FILES_ALLOWED.search(relative):
            yield f"{relative}: {len(lines)} lines; split it by concept (limit {MAX_LINES})"
        if not folder_of(relative):
            continue
        seen += 1
        for number, text in enumerate(lines, 1):
            match = INCLUDE.match(text)
            if match:
                yield from check_include(relative, number, match.group(1), match.group(2))
    if seen < 20:
        yield f"{root}: only {seen} source files found; is this the root of the repository?"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems = list(check(root))
    for problem in problems:
        print(problem)
    print(f"check_layers: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
