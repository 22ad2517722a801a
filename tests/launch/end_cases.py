# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that end early because a PE says so: all PEs end soon, with its status, and what they have printed is not lost."""
import os
import signal
import subprocess
import tempfile
import time

from launch_support import BIN, FAKE_SSH, OSHRUN, Case, Job, environment, free_port, main, wait_all

PROBE = os.path.join(BIN, "job_end_probe")
WAYS = ("barrier", "wait", "compute", "sleep", "deaf")
SOON = 25  # a second or less where the machine has nothing else to do
SETTINGS = {"SHMEM_SYMMETRIC_SIZE": "8M", "SHMEM_TIMEOUT": 45}


def by_oshrun(npes, *words, options=(), **more):
    return Job([OSHRUN, "-n", str(npes), *options, PROBE, *map(str, words)], environment(**SETTINGS), **more)


def by_tcp(npes, *words, **settings):
    """As torchrun would start them: nobody but the PEs themselves ends them."""
    settings = {**SETTINGS, "WORLD_SIZE": npes, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), **settings}
    return wait_all([Job([PROBE, *map(str, words)], environment(RANK=rank, **settings)) for rank in range(npes)])


class GlobalExit(Case):
    def test_status_and_end_by_oshrun(self):
        for others in WAYS:
            for status in (0, 7):
                self.expect(by_oshrun(3, "exit", status, others).wait(), status, within=SOON)

    def test_status_and_end_by_oshrun_on_several_hosts(self):
        for others in ("barrier", "compute"):
            job = Job([OSHRUN, "--ssh", FAKE_SSH, "-H", "one:2,two:2", PROBE, "exit", "0", others], environment(**SETTINGS))
            self.expect(job.wait(), 0, within=SOON)

    def test_status_and_end_without_launcher(self):
        for others in WAYS:
            for status in (0, 7):
                for result in by_tcp(4, "exit", status, others):
                    self.expect(result, status, within=SOON)
                    self.assertEqual(result.err, "", str(result))

    def test_wanted_end_is_no_death(self):
        for _ in range(8):
            for result in by_tcp(4, "exit", 0, "barrier"):
                self.expect(result, 0)
                self.assertEqual(result.err, "", str(result))

    def test_news_pass_a_tree_of_pes(self):
        for result in by_tcp(19, "exit", 5, "sleep"):
            self.expect(result, 5, within=50)

    def test_slow_launcher_learns_the_status(self):
        """Peers see the end of a process before a launcher that is slow has told them why."""
        for others in ("barrier", "sleep"):
            job = by_oshrun(3, "stop_exit", 0, others)
            for _ in range(300):
                if self.state(job.process.pid) == "T":
                    break
                time.sleep(0.05)
            time.sleep(1.5)
            job.process.send_signal(signal.SIGCONT)
            result = job.wait()
            self.expect(result, 0)
            self.assertEqual(result.err, "", str(result))

    def test_a_second_thread_may_end_the_job(self):
        self.expect(by_oshrun(2, "thread_exit", 6, "barrier").wait(), 6, within=SOON)


class SlowEnd(Case):
    """Processes that take seconds to end are not taken for dead, and the status stays the one that was passed."""

    def check(self, how, status, others):
        for results in ([by_oshrun(3, how, status, others).wait()], by_tcp(3, how, status, others)):
            for rank, result in enumerate(results):
                # Without a launcher each PE that returns has its own status.
                self.expect(result, status if how != "return" or rank == 0 else 0, within=SOON)
                self.assertNotIn("railshmem:", result.err, str(result))  # oshrun says which PE ends the job
            self.assertEqual("".join(result.out for result in results).count("the exit handler ran\n"), 3)

    def test_exit_handlers_of_all_pes(self):
        for others in ("barrier", "wait"):
            self.check("exit", 7, others + ":slow")
        self.check("exit", 0, "barrier:slow")

    def test_after_the_finalize_that_start_pes_implies(self):
        self.check("return", 7, "return:slow")

    def test_flush_on_a_full_pipe(self):
        """Nobody reads the output of any PE, so each flush takes until its limit."""
        with tempfile.TemporaryFile() as errors:
            command = [OSHRUN, "-n", "3", PROBE, "exit", "7", "barrier:writer"]
            with subprocess.Popen(command, env=environment(**SETTINGS), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=errors) as job:
                try:
                    status = job.wait(SOON)
                except subprocess.TimeoutExpired:
                    job.kill()
                    raise
            errors.seek(0)
            self.assertEqual((status, errors.read()), (7, b"oshrun: PE 0 ends the job with status 7\n"))


class Death(Case):
    """A PE is killed while the others compute or sleep, in a job on one host that needs no network."""

    def check(self, how, victim, others):
        results = by_tcp(3, how, 0, others, SHMEM_TRANSPORT="p2p", SHMEM_TIMEOUT=3)
        for rank, result in enumerate(results):
            if rank == victim:
                self.expect(result, -signal.SIGKILL)
                continue
            self.expect(result, 1, f"PE {victim} has died", within=SOON)
            self.assertRegex(result.err, f"PE {rank}: error: .*, and 3.0 s later this PE still runs: it computes on")

    def test_pes_that_compute_learn_of_it_without_launcher(self):
        self.check("kill", 0, "compute")
        self.check("kill_last", 2, "compute")

    def test_pes_that_sleep_learn_of_it_without_launcher(self):
        self.check("kill", 0, "sleep")
        self.check("kill_last", 2, "sleep")


class Locked(Case):
    """A second thread sits in getchar() or writes to a full pipe, and has a lock of stdio as long as the job runs."""

    def ends(self, status, npes, how, others, patience=SOON):
        """stdin and stdout are pipes of which the test holds the other ends and does nothing with them."""
        command = [OSHRUN, "-n", str(npes), PROBE, how, str(status), others] if npes else [PROBE, how, str(status), others]
        with subprocess.Popen(command, env=environment(**SETTINGS), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as job:
            try:
                self.assertEqual(job.wait(patience), status, command)
            except subprocess.TimeoutExpired:
                job.kill()
                self.fail(f"{command} did not end within {patience} s")

    def test_global_exit(self):
        for thread in ("reader", "writer"):
            self.ends(3, 2, "exit", "barrier:" + thread)
            self.ends(0, 2, "exit", "sleep:" + thread)

    def test_error(self):
        for thread in ("reader", "writer"):
            self.ends(1, 2, "error", "barrier:" + thread)

    def test_job_of_one_pe(self):
        for thread in ("reader", "writer"):
            self.ends(4, 0, "exit", "barrier:" + thread)
            self.ends(1, 0, "error", "barrier:" + thread)

    def test_finalize_that_start_pes_implies(self):
        with subprocess.Popen([PROBE, "plain", "0", ":reader"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as plain:
            try:
                plain.wait(5)
            except subprocess.TimeoutExpired:
                plain.kill()
                self.skipTest("exit() of this C library (glibc 2.41 and newer) waits for a thread that reads stdin, in any program")
        self.ends(0, 2, "return", "return:reader")
        self.ends(5, 2, "return", "barrier:reader")


class Output(Case):
    """What was printed and not yet flushed; stdout is a pipe."""

    def written(self, how, others, status=0, start=by_oshrun):
        with tempfile.TemporaryDirectory() as folder:
            results = start(3, how, status, others, folder)
            results = [results.wait()] if isinstance(results, Job) else results
            for result in results:
                self.expect(result, status, within=SOON)
            text = "".join(result.out for result in results)
            files = {name: os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)}
            return text, files, "\n".join(map(str, results))

    def expect_lines(self, what, pes, text, message):
        self.assertEqual([pe for pe in range(3) if f"{what} of PE {pe}\n" in text], list(pes), message)

    def expect_files(self, kind, pes, files, message):
        self.assertEqual([pe for pe in range(3) if files.get(f"{kind}.{pe}", 0) > 0], list(pes), message)

    def check_all(self, start):
        for others in ("barrier", "wait"):
            text, files, message = self.written("exit", others, start=start)
            for what in ("printf", "cout"):
                self.expect_lines(what, range(3), text, message)
            for kind in ("file", "stream"):
                self.expect_files(kind, range(3), files, message)
            self.assertEqual(text.count("the exit handler ran\n"), 3, message)

    def test_of_pes_that_wait(self):
        self.check_all(by_oshrun)

    def test_of_pes_that_wait_without_launcher(self):
        self.check_all(by_tcp)

    def test_of_pes_that_compute(self):
        """Their exit handlers do not run, because another thread still runs: what stdio holds is written."""
        for start in (by_oshrun, by_tcp):
            for others in ("compute", "deaf"):
                text, files, message = self.written("exit", others, start=start)
                self.expect_lines("printf", range(3), text, message)
                self.expect_files("file", range(3), files, message)
                self.expect_lines("cout", [0], text, message)
                self.assertEqual(text.count("the exit handler ran\n"), 1, message)

    def test_of_an_error(self):
        for others in ("barrier", "compute"):
            text, files, message = self.written("error", others, status=1)
            self.expect_lines("printf", range(3), text, message)
            self.expect_files("file", range(3), files, message)


if __name__ == "__main__":
    main()
