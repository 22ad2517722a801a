#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a job over rails that have a bad day, and makes sure that they had one.

run_flaky.py --library DIR --faults again=5,delay=8 [options] -- oshrun ... program

The job must pass, and each kind of fault that was asked for must have been injected at least once: a short job, in
which none may fall by chance, is run again with other seeds for that. With --fails-with,
for faults that no rail may inject, the job must fail with a message that matches, injected or not counts alike.
Repeats the job with the next seed on request; prints the seed and everything that the job said when it went wrong.
"""
import argparse
import os
import re
import subprocess
import sys

# what is asked for -> what must then be counted
EVIDENCE = {
    "again": ["again"],
    "delay": ["delayed", "reordered"],
    "fail": ["failed"],
    "outage": ["outages", "held"],
    "lie": ["lies"],
}
SKIPPED = 77
NOT_INJECTED = "no fault of this kind was injected"
TRIES = 3
NOT_A_VERDICT = (SKIPPED, 124)  # 124: it hung


def parse():
    options, command = sys.argv[1:], []
    if "--" in options:
        cut = options.index("--")
        options, command = options[:cut], options[cut + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="folder of the library with flaky rails")
    parser.add_argument("--faults", required=True, help="value of FLAKY, without the seed")
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--runs", type=int, default=1, help="with one seed after the other")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="+ stands for ;")
    parser.add_argument("--fails-with", metavar="REGEX")
    parser.add_argument("--unproven", action="store_true", help="expect that not all faults were injected")
    arguments = parser.parse_args(options)
    arguments.command = command
    if not command:
        parser.error("no command after --")
    return arguments


def injected(text):
    """All PEs' counts together; what a PE that died did is not among them."""
    total = {}
    for line in re.findall(r"flaky: PE \d+: seed \d+: (.*)", text):
        for name, value in re.findall(r"(\w+)=(\d+)", line):
            total[name] = total.get(name, 0) + int(value)
    return total


def judge(arguments, status, text):
    """What is wrong; empty when all is well."""
    if arguments.fails_with:
        if status == 0 or status in NOT_A_VERDICT:
            return f"status {status}, where the job had to notice that its rails lied"
        return "" if re.search(arguments.fails_with, text) else f"nothing matches '{arguments.fails_with}'"
    if status != 0:
        return f"status {status}"
    counts = injected(text)
    asked = [entry.split("=")[0] for entry in arguments.faults.split(",")]
    missing = [count for name in asked for count in EVIDENCE.get(name, []) if counts.get(count, 0) == 0]
    return f"{NOT_INJECTED}: {', '.join(missing)}" if missing else ""


def run(arguments, environment, seed):
    """What came of the job, and what is wrong with it."""
    for more in range(1 if arguments.unproven or arguments.fails_with else TRIES):
        environment["FLAKY"] = f"seed={seed + 1000 * more},{arguments.faults}"
        job = subprocess.run(arguments.command, env=environment, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
        wrong = "" if job.returncode == SKIPPED else judge(arguments, job.returncode, job.stdout)
        if not wrong.startswith(NOT_INJECTED):
            break
    return job, wrong


def main():
    arguments = parse()
    environment = dict(os.environ, SHMEM_TRANSPORT="ofi", LD_LIBRARY_PATH=":".join(filter(None, (arguments.library, os.environ.get("LD_LIBRARY_PATH")))))
    for entry in arguments.env:
        name, value = entry.split("=", 1)
        environment[name] = value.replace("+", ";")
    for seed in range(arguments.seed, arguments.seed + arguments.runs):
        job, wrong = run(arguments, environment, seed)
        if job.returncode == SKIPPED:
            print(job.stdout)
            return SKIPPED
        if arguments.unproven:
            wrong = "" if wrong.startswith(NOT_INJECTED) else f"it was to be found that no fault was injected; {wrong}"
        if wrong:
            print(f"$ FLAKY={environment['FLAKY']} {' '.join(arguments.env)} {' '.join(arguments.command)}")
            print(f"{job.stdout}FAILED with seed {seed}: {wrong}")
            return 1
        print(f"seed {seed}: " + ", ".join(f"{name} {n}" for name, n in injected(job.stdout).items() if n))
    return 0


if __name__ == "__main__":
    sys.exit(main())
