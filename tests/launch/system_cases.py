# SPDX-License-Identifier: BSD-3-Clause
"""What a job finds on its host, and what it leaves there."""
import os
import re
import shutil
import tempfile

from launch_support import BIN, OSHRUN, Case, Job, environment, free_port, main, oshrun, wait_all


class ClosedDescriptors(Case):
    """A daemon or a script may start a job with descriptors 0 to 2 closed; they must not become anybody else's."""
    CLOSED = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-")

    def runs(self, command, npes, redirections, **settings):
        """`command` runs with these redirections, a PE's report in each file of the folder that is its last word."""
        with tempfile.TemporaryDirectory() as folder:
            jobs = [Job(["sh", "-c", f'exec "$@" {redirections}', "sh", *words, folder], environment(**variables))
                    for words, variables in command(settings)]
            results = wait_all(jobs)
            reports = []
            for pe in range(npes):
                for name in (f"{folder}/pe.{pe}", f"{folder}/pe.{pe}.part"):
                    if os.path.exists(name):
                        with open(name, encoding="ascii") as report:
                            reports.append(report.read())
        shown = f"{redirections}: {reports}\n" + "\n".join(map(str, results))
        self.assertTrue(all(result.status == 0 for result in results), shown)
        self.assertEqual(len(reports), npes, shown)
        return reports, shown

    def under_oshrun(self, *options, closed=CLOSED, **settings):
        settings = {"SHMEM_SYMMETRIC_SIZE": "32M", **settings}
        for redirections in closed:
            words = [OSHRUN, "-n", "2", *options, os.path.join(BIN, "closed_fds")]
            reports, shown = self.runs(lambda variables: [(words, variables)], 2, redirections, **settings)
            if "--tag-output" not in options:
                # PE 0 has oshrun's; the others read from /dev/null.
                count = len(redirections.split())
                self.assertEqual(reports[0], f"well, {count} closed\n", shown)

    def test_over_shared_memory(self):
        self.under_oshrun(SHMEM_TRANSPORT="p2p")

    def test_over_ofi(self):
        self.under_oshrun(SHMEM_TRANSPORT="ofi", SHMEM_OFI_PROVIDER="tcp;ofi_rxm", SHMEM_NODE_SIZE="1")

    def test_tagged(self):
        self.under_oshrun("--tag-output", closed=("<&-", "<&- 2>&-", "<&- >&- 2>&-"), SHMEM_TRANSPORT="p2p")

    def test_over_the_tcp_bootstrap(self):
        program = [os.path.join(BIN, "closed_fds")]
        for redirections in self.CLOSED:
            port = free_port()

            def ranks(settings, port=port):
                return [(program, {"RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, **settings})
                        for rank in range(2)]
            reports, shown = self.runs(ranks, 2, redirections, SHMEM_TRANSPORT="ofi", SHMEM_OFI_PROVIDER="tcp;ofi_rxm",
                                       SHMEM_SYMMETRIC_SIZE="32M", SHMEM_TIMEOUT=30)
            self.assertEqual(reports, [f"well, {len(redirections.split())} closed\n"] * 2, shown)


class ControlGroup(Case):
    """A group of either version that may use 100 MiB; needs the right to make one."""
    LIMIT = 100 << 20
    FILES = (("memory.limit_in_bytes", "cgroup"), ("memory.max", "cgroup2"))

    def own_folders(self):
        """Those of this process's group, with the file that limits memory there."""
        with open("/proc/self/cgroup", encoding="ascii") as groups, open("/proc/self/mountinfo", encoding="ascii") as mounts:
            paths = [line.rstrip("\n").split(":", 2) for line in groups]
            mounted = [line.split(" - ", 1) for line in mounts]
        for limit, kind in self.FILES:
            for place, source in mounted:
                words = source.split()
                if words[0] != kind or (kind == "cgroup" and "memory" not in words[2].split(",")):
                    continue
                for number, controllers, path in paths:
                    if "memory" in controllers.split(",") if kind == "cgroup" else number == "0":
                        yield place.split()[4] + path.rstrip("/"), limit

    def limited_group(self):
        for folder, limit in self.own_folders():
            group = f"{folder}/railshmem-test-{os.getpid()}"
            try:
                os.mkdir(group)
                self.addCleanup(os.rmdir, group)
                with open(f"{group}/{limit}", "w", encoding="ascii") as file:
                    file.write(str(self.LIMIT))
                return group
            except OSError:
                continue
        return self.skipTest("no control group of memory can be made here")

    def ask(self, procs, mebibytes):
        command = ["sh", "-c", f'echo $$ > {procs} && exec "$@"', "sh", OSHRUN, "-n", "1", os.path.join(BIN, "ask_memory")]
        return Job([*command, str(mebibytes)], environment(SHMEM_SYMMETRIC_SIZE="512M", SHMEM_TRANSPORT="p2p")).wait()

    def test_more_than_the_group_may_use_is_null_and_no_kill(self):
        procs = self.limited_group() + "/cgroup.procs"
        self.expect(self.ask(procs, 16), 0, "16 MiB: allocated", where="out")
        result = self.ask(procs, 300)
        self.expect(result, 0, "300 MiB: NULL", where="out")
        self.expect(result, 0, "PE 0: warn: shmem_malloc: no memory for", "the system has", "every PE gets NULL")

    def test_all_pes_get_null_where_one_lacks_memory(self):
        """Only the PE that comes first is in the group."""
        procs = self.limited_group() + "/cgroup.procs"
        with tempfile.TemporaryDirectory() as folder:
            enter = f'if mkdir "{folder}/first" 2> /dev/null; then echo $$ > {procs}; fi; exec "$@"'
            command = [OSHRUN, "-n", "2", "sh", "-c", enter, "sh", os.path.join(BIN, "ask_memory"), "300"]
            result = Job(command, environment(SHMEM_SYMMETRIC_SIZE="512M", SHMEM_TRANSPORT="p2p")).wait()
        self.expect(result, 0, "warn: shmem_malloc: no memory for", "every PE gets NULL")
        self.assertEqual(result.out.count("300 MiB: NULL"), 2, result.out)


class Leftovers(Case):
    """Files of libfabric's shm provider, which a killed PE cannot remove."""
    OVER_SHM = {"SHMEM_TRANSPORT": "ofi", "SHMEM_OFI_PROVIDER": "shm", "SHMEM_NODE_SIZE": "1", "SHMEM_SYMMETRIC_SIZE": "32M"}

    @staticmethod
    def files():
        return {name for name in os.listdir("/dev/shm") if re.match(r"\d+_[0-9a-f]+_\d+:", name)}

    def start(self, *before):
        """A job of two PEs that stays, and the files that it has made."""
        there = self.files()
        self.addCleanup(oshrun, "--clean")
        job = Job([*before, OSHRUN, "-n", "2", os.path.join(BIN, "ask_memory"), "1", "stay"], environment(**self.OVER_SHM))
        self.addCleanup(job.process.communicate)
        self.addCleanup(job.process.kill)
        pids = [job.process.stdout.readline().strip() for _ in range(2)]
        made = {name for name in self.files() - there if name.split("_")[0] in pids}
        self.assertGreaterEqual(len(made), 2, f"{pids} made {made}")
        return job, [int(pid) for pid in pids], made

    def lose_a_job(self):
        job, pids, made = self.start()
        job.process.kill()
        job.process.wait()
        self.assert_gone(pids)
        return made

    def test_clean_removes_what_a_killed_job_left_and_nothing_of_a_living_one(self):
        _, _, living = self.start()
        lost = self.lose_a_job()
        self.expect(oshrun("--clean"), 0, "files removed in /dev/shm: ", where="out")
        self.assertEqual(self.files() & lost, set())
        self.assertEqual(self.files() & living, living)

    def test_the_next_job_removes_what_a_killed_one_left(self):
        _, _, living = self.start()
        lost = self.lose_a_job()
        self.expect(oshrun("-n", 1, "true"), 0)
        self.assertEqual(self.files() & lost, set())
        self.assertEqual(self.files() & living, living)

    def test_a_pe_without_oshrun_removes_them_too(self):
        lost = self.lose_a_job()
        port = free_port()
        for result in wait_all([Job([os.path.join(BIN, "ask_memory"), "1"],
                                    environment(RANK=rank, WORLD_SIZE=2, MASTER_ADDR="127.0.0.1", MASTER_PORT=port, **self.OVER_SHM))
                                for rank in range(2)]):
            self.expect(result, 0, "1 MiB: allocated", where="out")
        self.assertEqual(self.files() & lost, set())

    def test_a_job_in_another_pid_namespace_keeps_its_files(self):
        apart = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
        if Job([*apart, "true"]).wait().status != 0:
            self.skipTest("no PID namespace can be made here")
        _, _, living = self.start(*apart)
        self.expect(oshrun("--clean"), 0)
        self.assertEqual(self.files() & living, living)

    def test_clean_takes_no_program(self):
        self.expect(oshrun("--clean", "true"), 2, "--clean starts no program, but 'true' is given")


class Plugins(Case):
    """The library and its plug-ins in an installation whose group is not the user's private one, as `umask 002` leaves it."""
    GROUP = 54321

    def start(self, writable):
        """A job with a copy of the library. `writable`: what the group or all may write to."""
        build = os.path.dirname(BIN)
        if not os.path.exists(os.path.join(build, "railshmem", "librailshmem-libfabric.so")):
            self.skipTest("this build has no plug-in")
        with tempfile.TemporaryDirectory() as folder:
            lib = os.path.join(folder, "lib")
            shutil.copytree(os.path.join(build, "railshmem"), os.path.join(lib, "railshmem"))
            shutil.copy(os.path.join(build, "librailshmem.so.0"), lib)
            for place, folders, files in os.walk(lib):
                for path in [place, *(os.path.join(place, name) for name in files)]:
                    try:
                        os.chown(path, -1, self.GROUP)
                    except PermissionError:
                        self.skipTest("only root can choose any group")
                    os.chmod(path, 0o755)
            for path, mode in writable.items():
                os.chmod(os.path.join(lib, path), mode)
            command = [OSHRUN, "-n", "2", os.path.join(BIN, "job_end_probe"), "return", "0", "return"]
            return Job(command, environment(LD_LIBRARY_PATH=lib, SHMEM_SYMMETRIC_SIZE="8M", SHMEM_TRANSPORT="ofi",
                                            SHMEM_OFI_PROVIDER="tcp;ofi_rxm", SHMEM_NODE_SIZE=1)).wait()

    PLUGIN = "railshmem/librailshmem-libfabric.so"

    def test_of_a_group_that_can_exchange_the_library(self):
        for writable in ({".": 0o775, "railshmem": 0o775, self.PLUGIN: 0o775, "librailshmem.so.0": 0o775},
                         {"railshmem": 0o775, self.PLUGIN: 0o775, "librailshmem.so.0": 0o775}):
            result = self.start(writable)
            self.expect(result, 0)
            self.assertEqual(result.err, "", str(result))

    def test_of_a_group_that_cannot_exchange_the_library_is_refused(self):
        self.expect(self.start({self.PLUGIN: 0o775}), 1, "is not loaded: it can be written by group 54321 ")

    def test_that_all_may_write_is_refused(self):
        for writable in ({"railshmem": 0o777, ".": 0o777, "librailshmem.so.0": 0o777}, {self.PLUGIN: 0o757}):
            self.expect(self.start(writable), 1, "is not loaded: it ", "can be written by other users ")


if __name__ == "__main__":
    main()
