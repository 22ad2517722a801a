# SPDX-License-Identifier: BSD-3-Clause
"""Starts jobs and shows what they said when an expectation fails."""
import concurrent.futures
import os
import shutil
import socket
import subprocess
import sys
import time
import unittest

BIN = os.environ["RAILSHMEM_TEST_BIN"]
OSHRUN = os.path.join(BIN, "oshrun")
PROBE = os.path.join(BIN, "bootstrap_probe")
ID_PROBE = os.path.join(BIN, "bootstrap_unique_id_probe")
FAKE_SSH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_ssh.sh")
# Under a sanitizer on a loaded machine a start takes its time.
PATIENCE = 60
LAUNCHER_PREFIXES = ("RAILSHMEM_", "PMI_", "PMIX_", "OMPI_", "SHMEM_", "RANK", "WORLD_SIZE", "MASTER_",
                     "SLURM_")


def environment(**settings):
    """The environment without traces of a launcher, for a job of its own."""
    out = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER_PREFIXES)}
    out.update({k: str(v) for k, v in settings.items()})
    return out


def free_port():
    """A port that is free, with some room behind it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return min(probe.getsockname()[1], 65000)


class Result:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def __str__(self):
        return f"status {self.status} after {self.seconds:.1f} s\n-- stdout\n{self.out}\n-- stderr\n{self.err}"


class Job:
    """One process with captured output."""

    def __init__(self, command, env=None, stdin=None, cwd=None):
        self.start = time.monotonic()
        self.process = subprocess.Popen(command, env=env or environment(), text=True, cwd=cwd, stdout=subprocess.PIPE,
                                        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, errors="replace")
        self.stdin = stdin

    def wait_for_process(self):
        """Waits for the process itself: others that it leaves running may hold its output open."""
        self.process.wait(PATIENCE)
        with self.process.stdout as out, self.process.stderr:
            return Result(self.process.returncode, out.readline(), "", time.monotonic() - self.start)

    def wait(self, patience=PATIENCE):
        try:
            out, err = self.process.communicate(self.stdin, timeout=patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            err += "\n(killed by the test after its patience ended)"
        return Result(self.process.returncode, out, err, time.monotonic() - self.start)


def wait_all(jobs):
    """Beside each other, so that each result has its own duration."""
    with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(Job.wait, jobs))


def oshrun(*words, stdin=None, **settings):
    return Job([OSHRUN, *map(str, words)], environment(**settings), stdin).wait()


def oshrun_on(hosts, *words, **settings):
    """PEs on hosts that ssh would reach; see fake_ssh.sh."""
    return oshrun("--ssh", FAKE_SSH, "-H", hosts, *words, **settings)


def tcp(npes, *words, ranks=None, sizes=None, port=None, **settings):
    """PEs as torchrun would start them; returns their results in order of `ranks`."""
    port = port or free_port()
    ranks = list(range(npes)) if ranks is None else ranks
    settings = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "SHMEM_TIMEOUT": 30, **settings}
    jobs = [Job([PROBE, *map(str, words)], environment(RANK=rank, WORLD_SIZE=sizes[i] if sizes else npes, **settings))
            for i, rank in enumerate(ranks)]
    return wait_all(jobs)


class Case(unittest.TestCase):
    def has(self, program):
        return shutil.which(program) or os.path.exists(program)

    def need(self, *programs):
        for program in programs:
            if not self.has(program):
                self.skipTest(f"{program} is not installed")

    def assert_gone(self, pids):
        for _ in range(50):
            if not any(self.lives(pid) for pid in pids):
                return
            time.sleep(0.1)
        self.fail(f"{pids} still run")

    def state(self, pid):
        """The letter of the process, as ps shows it; Z also for one that is gone."""
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            return "Z"

    def lives(self, pid):
        return self.state(pid) != "Z"

    def expect(self, result, status, *phrases, where="err", within=None):
        self.assertEqual(result.status, status, str(result))
        for phrase in phrases:
            self.assertIn(phrase, getattr(result, where), str(result))
        if within is not None:
            self.assertLess(result.seconds, within, str(result))


def main():
    program = unittest.main(exit=False)
    if not program.result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if program.result.skipped and program.result.testsRun == len(program.result.skipped) else 0)
