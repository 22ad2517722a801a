#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a job that must fail in a certain way.

run_fault.py [options] -- command...            the command starts the job (oshrun ...)
run_fault.py --ranks N [options] -- command...  N copies started here, as torchrun does, by RANK, WORLD_SIZE,
                                                MASTER_ADDR and MASTER_PORT: nobody ends the rest of the job

Checks exit status, output, time and that no file of libfabric's shm provider is left of the processes that were started
here or that the output names; prints everything that the job said when one of them is wrong.
"""
import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

# 3: a test program saw its mistake go unnoticed; 124: oshrun --timeout; 128 + SIGALRM: the programs' own alarm. Ended by
# a signal (negative) without a launcher in between is no orderly end either.
UNACCEPTABLE = (3, 124, 128 + signal.SIGALRM)
# IPATH_, HFI_: what test.sh sets against the signal handlers of a library; users do not.
HIDDEN = ("RAILSHMEM_", "PMI_", "PMIX_", "OMPI_", "SHMEM_", "SMA_", "RANK", "WORLD_SIZE", "MASTER_", "LOCAL_RANK", "IPATH_",
          "HFI_")


def parse():
    options, command = sys.argv[1:], []
    if "--" in options:
        cut = options.index("--")
        options, command = options[:cut], options[cut + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--status", default="nonzero", help="a number, or nonzero")
    parser.add_argument("--expect", action="append", default=[], metavar="REGEX", help="must be in the output")
    parser.add_argument("--expect-somewhere", action="append", default=[], metavar="REGEX",
                        help="must be in the output of at least one process")
    parser.add_argument("--forbid", action="append", default=[], metavar="REGEX", help="must not be in the output")
    parser.add_argument("--within", type=float, default=20, help="seconds the job may take")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--provider", metavar="A+B", help="SHMEM_OFI_PROVIDER, + for ; (which CMake takes for its own)")
    parser.add_argument("--ranks", type=int, default=0, metavar="N")
    parser.add_argument("--rank-env", action="append", default=[], metavar="RANK:NAME=VALUE", help="with --ranks")
    parser.add_argument("--victim", type=int, default=-1, help="with --ranks: this one ends by SIGKILL")
    parser.add_argument("--apart", type=int, default=-1, metavar="RANK",
                        help="with --ranks: this one numbers processes by itself, so that it cannot watch the others'; "
                        "exits 77 where this user may not do that")
    arguments = parser.parse_args(options)
    arguments.command = command
    if not command:
        parser.error("no command after --")
    return arguments


def environment(arguments, rank=None, port=None):
    out = {k: v for k, v in os.environ.items() if not k.startswith(HIDDEN)}
    out["SHMEM_SYMMETRIC_SIZE"] = "16M"
    out.update(entry.split("=", 1) for entry in arguments.env)
    if arguments.provider:
        out.update(SHMEM_TRANSPORT="ofi", SHMEM_OFI_PROVIDER=arguments.provider.replace("+", ";"))
    if rank is not None:
        out.update(RANK=str(rank), WORLD_SIZE=str(arguments.ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        for entry in arguments.rank_env:
            whose, setting = entry.split(":", 1)
            if int(whose) == rank:
                out.update([setting.split("=", 1)])
    return out


APART = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]


def can_be_apart():
    try:
        return subprocess.run([*APART, "true"], stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return min(probe.getsockname()[1], 65000)


# A process group of its own, to be killed as a whole. No session of its own where Python can do without: Linux then gives
# it a share of the CPUs of its own, by whose rules threads that yield can starve those of another job (decision 0004).
OWN_GROUP = {"process_group": 0} if sys.version_info >= (3, 11) else {"start_new_session": True}


class Process:
    """One process of the job; its output is collected while it runs, so that no pipe fills up."""

    def __init__(self, arguments, rank=None, port=None):
        self.rank, self.started, self.text, self.seconds = rank, time.monotonic(), "", 0.0
        command = [*APART, *arguments.command] if rank is not None and rank == arguments.apart else arguments.command
        self.process = subprocess.Popen(command, env=environment(arguments, rank, port), text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        errors="replace", **OWN_GROUP)
        self.reader = threading.Thread(target=self.collect)
        self.reader.start()

    def collect(self):
        self.text = self.process.stdout.read()
        self.process.wait()
        self.seconds = time.monotonic() - self.started

    def finish(self, deadline):
        """False when it had to be killed."""
        self.reader.join(max(0.1, deadline - time.monotonic()))
        if not self.reader.is_alive():
            return True
        os.killpg(self.process.pid, signal.SIGKILL)  # OWN_GROUP, so this is only what was started here
        self.reader.join()
        return False

    def __str__(self):
        who = "the job" if self.rank is None else f"rank {self.rank}"
        return f"-- {who}: status {self.process.returncode} after {self.seconds:.1f} s\n{self.text}"


def status_is_wrong(arguments, process):
    status = process.process.returncode
    if process.rank is not None and process.rank == arguments.victim:
        return status != -signal.SIGKILL
    if arguments.status == "nonzero":
        return status <= 0 or status in UNACCEPTABLE
    return status != int(arguments.status)


def files_in_shm():
    return set(os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else [])


def left_in_shm(processes, everything, earlier):
    """Process ids come again: a file that was there `earlier` may bear one of ours."""
    pids = {str(process.process.pid) for process in processes} | set(re.findall(r"\bpid (\d+)", everything))
    names = files_in_shm() - earlier
    return sorted(name for name in names if re.split("[_:]", name)[0] in pids and ":" in name)


def main():
    arguments = parse()
    if arguments.apart >= 0 and not can_be_apart():
        print(f"SKIPPED: {' '.join(APART)} fails")
        return 77
    port = free_port()
    earlier = files_in_shm()
    ranks = range(arguments.ranks) if arguments.ranks else [None]
    processes = [Process(arguments, rank, port) for rank in ranks]
    deadline = time.monotonic() + arguments.within
    wrong = []
    for process in processes:
        if not process.finish(deadline):
            wrong.append(f"it did not end within {arguments.within:g} s")
        elif status_is_wrong(arguments, process):
            wrong.append(f"the status is not {arguments.status}")
    for process in processes:
        # Every survivor must say it: under a launcher their output is one text.
        if process.rank is not None and process.rank == arguments.victim:
            continue
        wrong += [f"nothing matches '{e}'" for e in arguments.expect if not re.search(e, process.text)]
        wrong += [f"something matches '{e}'" for e in arguments.forbid if re.search(e, process.text)]
    everything = "".join(process.text for process in processes)
    wrong += [f"nothing anywhere matches '{e}'" for e in arguments.expect_somewhere if not re.search(e, everything)]
    wrong += [f"/dev/shm/{name} is left" for name in left_in_shm(processes, everything, earlier)]
    print(f"$ {' '.join(arguments.env)} {' '.join(arguments.command)}")
    for process in processes:
        print(process)
    for reason in wrong:
        print(f"FAILED: {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
