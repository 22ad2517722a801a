# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that go wrong: they end soon, with the right status, and say who is to blame."""
import os
import shutil
import signal
import socket
import tempfile
import time

from launch_support import (BIN, FAKE_SSH, ID_PROBE, OSHRUN, PROBE, Case, Job, environment, free_port, main, oshrun,
                            oshrun_on, tcp, wait_all)


class Oshrun(Case):
    def test_missing_program(self):
        self.expect(oshrun("-n", 2, "no-such-program"), 127, "cannot start 'no-such-program': No such file")
        result = oshrun("-n", 2, "")
        self.expect(result, 127, "cannot start '': No such file or directory\n")

    def test_program_of_this_folder_without_its_dot(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy("/bin/true", f"{folder}/a-program")
            self.expect(oshrun("-n", 2, "--wdir", folder, "a-program"), 127,
                        "cannot start 'a-program': No such file or directory in PATH; did you mean ./a-program?")
            self.expect(oshrun("-n", 2, "--wdir", folder, "./a-program"), 0)

    def test_a_number_of_pes_that_is_none(self):
        for value in ("two", "0", "-1", "2.5", "99999999"):
            result = oshrun("-n", value, "true")
            self.expect(result, 2, f"oshrun: '{value}' is not a number of PEs; give -n N with N from 1 to ")
            self.assertEqual(oshrun("-np", value, "true").err, result.err)

    def test_a_second_program_is_refused(self):
        for option in ("-n", "-np", "--np"):
            self.expect(oshrun("-n", 1, "true", ":", option, 1, "false"), 2,
                        f"': {option}' would start a second program, but oshrun starts one for all PEs")
        result = oshrun("-n", 1, "--", "echo", ":", "-n")
        self.expect(result, 0)
        self.assertEqual(result.out, ": -n\n")

    def test_program_of_another_library(self):
        for program, settings in ((f"{BIN}/other_program", {}), ("other_program", {"PATH": f"{BIN}:{os.environ['PATH']}"})):
            result = Job([OSHRUN, "-n", "2", program], env=environment(**settings)).wait()
            self.expect(result, 0, f"oshrun: '{program}' is linked with liboshmem.so.40, another OpenSHMEM library")
            self.assertEqual((result.out, result.err.count("\n")), ("PE 0 of 1\n" * 2, 1), str(result))
        self.assertEqual(oshrun("-n", 1, PROBE, "--help").err.count("another OpenSHMEM library"), 0)

    def test_program_that_is_no_program(self):
        self.expect(oshrun("-n", 2, "/etc/passwd"), 126, "cannot start '/etc/passwd': Permission denied")

    def test_unknown_option(self):
        self.expect(oshrun("-n", 2, "--bogus", "true"), 2, "unknown option --bogus")

    def test_more_pes_than_cores(self):
        result = oshrun("-n", 900, "--bind-to", "core", "true")
        self.expect(result, 1, "oshrun: --bind-to core: 900 PEs, but only ", within=10)

    def refused(self, call, *words):
        """oshrun where the kernel refuses that system call."""
        result = Job([f"{BIN}/refuse_call", call, OSHRUN, *map(str, words)]).wait()
        if result.status == 77:
            self.skipTest("this kernel takes no filter of system calls")
        return result

    def test_binding_that_nobody_asked_for_may_be_refused(self):
        if "is bound to" not in oshrun("-n", 2, "-v", "true").err:
            self.skipTest("this machine has too few cores")
        for call, why in (("sched_setaffinity", "PEs from 0 on are not bound to cores: the system refuses the CPUs "),
                          ("sched_getaffinity", "PEs are not bound to cores: the CPUs that this process may use cannot be read: ")):
            result = self.refused(call, "-n", 2, "echo", "runs")
            self.expect(result, 0, f"oshrun: {why}", "Operation not permitted\n")
            self.assertEqual((result.out, result.err.count("\n")), ("runs\nruns\n", 1), str(result))
            self.assertEqual(self.refused(call, "-n", 2, "--bind-to", "none", "true").err, "")

    def test_binding_that_was_asked_for_may_not(self):
        for call, why in (("sched_setaffinity", "cannot bind PE 0 to the CPUs "),
                          ("sched_getaffinity", "the CPUs that this process may use cannot be read: ")):
            result = self.refused(call, "-n", 1, "--bind-to", "numa", "echo", "runs")
            self.expect(result, 1, f"oshrun: --bind-to numa: {why}", "Operation not permitted", within=10)
            self.assertEqual(result.out, "", str(result))

    def test_mistakes_have_the_prefix(self):
        for words in ([], ["-n", 2], ["-n", "x", "true"], ["-n", 2, "--bogus", "true"], ["-n"], ["--bind-to", "moon", "-n", 1, "true"],
                      ["-n", 2, "--timeout", -1, "true"], ["-n", 1, "-x", "=1", "true"]):
            result = oshrun(*words)
            self.expect(result, 2)
            self.assertTrue(all(line.startswith("oshrun: ") for line in result.err.splitlines()), str(result))

    def test_control_characters_of_names_are_shown(self):
        for words, status in ((["no\33[31m\nsuch"], 127), (["--bogus\33[31m\n", "true"], 2)):
            result = oshrun("-n", 1, *words)
            self.expect(result, status, "\\x1b[")
            self.assertEqual(result.err.count("\n"), 1, str(result))
            self.assertNotIn("\33", result.err)

    def test_control_characters_of_processes_left_running_are_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(shutil.which("sleep"), f"{folder}/a\nb\33[2J")
            program = f'cd {folder}; ./"$1" 60 >/dev/null 2>&1 & while grep -q sh /proc/$!/comm; do sleep 0.05; done'
            result = oshrun("-n", 1, "sh", "-c", program, "sh", "a\nb\33[2J")
            self.expect(result, 0, "oshrun: ended what the PEs left running: 'a\\x0ab\\x1b[2J' (pid ", within=10)

    def test_no_number(self):
        self.expect(oshrun("true"), 2, "-n")
        self.expect(oshrun("-n", 0, "true"), 2, "-n")

    def test_exit_status_is_the_jobs(self):
        result = oshrun("-n", 3, "sh", "-c", "test $RAILSHMEM_LAUNCHER_PE != 1 && exec sleep 60; exit 42")
        self.expect(result, 42, "oshrun: PE 1 (pid ", "exited with status 42; ending the other PEs", within=10)

    def test_killed_pe_is_named_and_the_rest_ends(self):
        result = oshrun("-n", 4, "sh", "-c", "test $RAILSHMEM_LAUNCHER_PE != 3 && exec sleep 60; kill -9 $$")
        self.expect(result, 137, "oshrun: PE 3 (pid ", "was killed by signal 9 (Killed); ending the other PEs", within=10)

    def test_stubborn_pes_are_killed(self):
        result = oshrun("-n", 2, "sh", "-c",
                        "trap '' TERM; test $RAILSHMEM_LAUNCHER_PE = 1 && exit 9; while :; do sleep 0.1; done")
        self.expect(result, 9, within=15)

    def test_other_pes_learn_who_died(self):
        result = oshrun("-n", 4, PROBE, "die-by-signal", 2)
        self.expect(result, 134, "PE 2 (pid ", "was killed by signal 6", within=15)
        for pe in (0, 1, 3):
            self.assertIn(f"PE {pe} learnt: PE 2 (pid ", result.err, str(result))

    def test_others_may_survive(self):
        program = "test $RAILSHMEM_LAUNCHER_PE = 1 && kill -9 $$; sleep 2.5; echo $RAILSHMEM_LAUNCHER_PE$SHMEM_SURVIVE"
        result = oshrun("-n", 3, "--survive", "sh", "-c", program)
        self.expect(result, 137, "PE 1 (pid ", "the other PEs go on (--survive)", within=15)
        self.assertEqual(sorted(result.out.split()), ["01", "21"])

    def test_exit_without_finalize_is_noticed(self):
        self.expect(oshrun("-n", 2, PROBE, "exit-early", 1), 5, "PE 0 learnt: PE 1 (pid ", "without finalizing")

    def test_global_exit_status(self):
        self.expect(oshrun("-n", 4, PROBE, "abort-7", 1), 7, within=10)
        self.expect(oshrun("-n", 4, PROBE, "abort-0", 1), 0, within=10)

    def test_timeout(self):
        result = oshrun("-n", 2, "--timeout", 0.5, "sleep", 60)
        self.expect(result, 124, "the job did not end within 0.5 s (--timeout)", within=10)

    def test_absent_pe_is_named(self):
        result = oshrun("-n", 3, PROBE, "silent", 1, SHMEM_TIMEOUT=1)
        self.expect(result, 4, "PE 1 did not come to the exchange within 1 s", within=15)

    def test_interrupt_ends_the_job(self):
        job = Job([OSHRUN, "-n", "2", "sleep", "60"])
        time.sleep(0.5)
        job.process.send_signal(signal.SIGINT)
        result = job.wait()
        self.expect(result, 130, within=10)
        self.assertEqual(result.err, "")

    def test_nothing_is_left_when_oshrun_is_killed(self):
        job = Job([OSHRUN, "-n", "2", "sh", "-c", "echo $$; exec sleep 60"])
        pids = [int(job.process.stdout.readline()) for _ in range(2)]
        job.process.kill()
        job.wait()
        self.assert_gone(pids)

    def test_nothing_is_left_of_an_aborted_job(self):
        program = "test $RAILSHMEM_LAUNCHER_PE = 1 && sleep 0.5 && exit 3; sleep 60 & echo $!; wait"
        result = oshrun("-n", 2, "sh", "-c", program)
        self.expect(result, 3, within=15)
        self.assert_gone([int(result.out)])

    def test_nothing_is_left_of_a_successful_job(self):
        result = oshrun("-n", 2, "sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!")
        pids = result.out.split()
        # Not by name: a child that has not yet become sleep is called sh.
        self.expect(result, 0, "oshrun: ended what the PEs left running: ", *[f"(pid {pid})" for pid in pids], within=10)
        self.assertEqual(len(pids), 2, str(result))
        self.assert_gone([int(pid) for pid in pids])

    def test_what_a_pe_left_running_may_write_for_ever(self):
        result = Job(["sh", "-c", f"exec {OSHRUN} --tag-output -n 1 sh -c 'yes & exit 0' >/dev/null"]).wait()
        self.expect(result, 0, within=10)  # SIGPIPE may end it before oshrun does

    def test_output_that_nobody_reads_ends_the_job(self):
        result = Job(["bash", "-c", f"{OSHRUN} -n 2 --tag-output yes | head -n 1; echo ${{PIPESTATUS[0]}}"]).wait()
        self.expect(result, 0, "\n141\n", within=10, where="out")

    def test_children_from_before_oshrun_stay(self):
        result = Job(["sh", "-c", f"sleep 60 & echo $!; exec {OSHRUN} -n 2 true"]).wait_for_process()
        pid = int(result.out)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.expect(result, 0)
        self.assertTrue(self.lives(pid))

    def limited(self, descriptors, *words):
        command = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", OSHRUN, *map(str, words)]
        return Job(command).wait()

    def test_few_descriptors_suffice(self):
        self.expect(self.limited(64, "-n", 22, "true"), 0, within=20)
        self.expect(self.limited(1024, "-n", 345, "true"), 0, within=60)

    def test_soft_limit_is_raised_for_oshrun_alone(self):
        command = ["sh", "-c", f"ulimit -Sn 32; exec {OSHRUN} -n 40 sh -c 'ulimit -Sn'"]
        result = Job(command).wait()
        self.expect(result, 0, within=20)
        self.assertEqual(result.out, "32\n" * 40, str(result))

    def test_too_few_descriptors_are_said_before_the_start(self):
        for words in (["-n", 64], ["-n", 22, "--tag-output"]):
            result = self.limited(64, *words, "echo", "started")
            self.expect(result, 1, "descriptors, and this process may have 64 (ulimit -Hn)", within=10)
            self.assertEqual(result.out, "", str(result))

    def test_a_pe_that_cannot_start_ends_the_job(self):
        self.need("setpriv", "prlimit")
        # Under a user number that has no other process the system refuses the thirteenth.
        user = ["setpriv", "--reuid", "54321", "--clear-groups"]
        if os.geteuid() != 0:
            self.skipTest("only root can take another user number")
        command = [*user, "prlimit", "--nproc=12", OSHRUN, "-n", "40", "sleep", "60"]
        self.expect(Job(command).wait(), 1, "oshrun: cannot start PE ", " of 40: fork failed: Resource temporarily", within=20)

    def test_stale_launcher_descriptor(self):
        env = environment(RAILSHMEM_LAUNCHER_FD=77, RAILSHMEM_LAUNCHER_PE=0, RAILSHMEM_LAUNCHER_NPES=2)
        self.expect(Job([PROBE], env).wait(), 4, "RAILSHMEM_LAUNCHER_FD is 77", "not by oshrun")


class Hosts(Case):
    """oshrun over ssh, and what can go wrong there."""

    def test_host_that_is_not_reached(self):
        result = oshrun_on("one:1,lost:1", "sleep", 60)
        self.expect(result, 1, "oshrun: lost: ssh: Could not resolve hostname lost", "oshrun: cannot start on lost: ",
                    "fake_ssh.sh lost ", "exited with status 255", within=10)

    def test_control_characters_of_another_host_are_shown(self):
        result = oshrun_on("rude", "true")
        self.expect(result, 1, "oshrun: rude: \\x1b[2Jgo away\noshrun: cannot start on rude: ", within=10)

    def test_shell_that_prints(self):
        self.expect(oshrun_on("chatty", "true"), 1, "oshrun: chatty answered something that is not oshrun's", within=10)

    def test_silent_host_is_given_up_when_the_job_ends(self):
        result = oshrun_on("one:1,silent:1", "--timeout", 1, "sleep", 60)
        self.expect(result, 124, "oshrun: silent has not answered yet; giving it up", within=10)

    def test_signal_before_a_host_has_answered(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            job = Job([OSHRUN, "--ssh", FAKE_SSH, "-H", "one:1,silent:1", "sh", "-c", "echo up; exec sleep 60"])
            job.process.stdout.readline()
            job.process.send_signal(number)
            self.expect(job.wait(), status, "oshrun: silent has not answered yet; giving it up", within=10)

    def test_agent_that_does_not_exist(self):
        result = oshrun("--ssh", "/no/such/ssh", "-H", "one", "true")
        self.expect(result, 1, "oshrun: one: cannot run '/no/such/ssh': No such file", "cannot start on one", within=10)

    def test_program_and_directory_that_are_missing(self):
        self.expect(oshrun_on("one", "no-such-program"), 127, "oshrun: one: cannot start 'no-such-program': No such file")
        self.expect(oshrun_on("one", "--wdir", "/no/such", "true"), 126, "oshrun: one: cannot start in the directory '/no/such'")

    def test_exit_status_is_the_jobs(self):
        result = oshrun_on("one:2,two:2", "sh", "-c", "test $RAILSHMEM_LAUNCHER_PE != 3 && exec sleep 60; exit 42")
        self.expect(result, 42, "oshrun: PE 3 (pid ", " on two) exited with status 42; ending the other PEs", within=10)

    def test_other_pes_learn_who_died(self):
        result = oshrun_on("one:2,two:2", PROBE, "die-by-signal", 2)
        self.expect(result, 134, "PE 2 (pid ", "was killed by signal 6", within=15)
        for pe in (0, 1, 3):
            self.assertIn(f"PE {pe} learnt: PE 2 (pid ", result.err, str(result))

    def test_global_exit_status(self):
        self.expect(oshrun_on("one:2,two:2", PROBE, "abort-7", 3), 7, within=10)
        self.expect(oshrun_on("one:2,two:2", PROBE, "abort-0", 0), 0, within=10)

    def test_timeout(self):
        result = oshrun_on("one,two", "--timeout", 0.5, "sh", "-c", "trap '' TERM; while :; do sleep 0.1; done")
        self.expect(result, 124, "the job did not end within 0.5 s (--timeout)", within=15)

    def test_absent_pe_is_named(self):
        self.expect(oshrun_on("one:1,two:2", PROBE, "silent", 2, SHMEM_TIMEOUT=1), 4,
                    "PE 2 did not come to the exchange within 1 s", within=15)

    def started(self, program):
        job = Job([OSHRUN, "--ssh", FAKE_SSH, "-H", "one,two", "sh", "-c", program])
        return job, [int(job.process.stdout.readline()) for _ in range(2)]

    def test_interrupt_ends_the_job(self):
        job, pids = self.started("echo $$; exec sleep 60")
        job.process.send_signal(signal.SIGINT)
        result = job.wait()
        self.expect(result, 130, within=10)
        self.assertEqual(result.err, "")
        self.assert_gone(pids)

    def test_nothing_is_left_when_oshrun_is_killed(self):
        job, pids = self.started("echo $$; trap '' TERM; while :; do sleep 0.1; done")
        job.process.kill()
        job.process.wait()
        self.assert_gone(pids)
        job.wait()

    def test_relay_that_is_killed(self):
        job, relays = self.started("echo $PPID; exec sleep 60")
        os.kill(relays[0], signal.SIGKILL)
        result = job.wait()
        self.expect(result, 1, "oshrun: the connection to ", " broke: ", "was killed by signal 9", within=10)

    def test_hosts_without_room(self):
        self.expect(oshrun_on("one:1,two:1", "-n", 3, "true"), 2, "oshrun: 3 PEs do not fit on the 2 slots of 2 hosts")
        self.expect(oshrun_on("one:x", "true"), 2, "oshrun: 'one:x' does not say how many PEs the host takes")
        self.expect(oshrun_on("-oProxyCommand=x", "true"), 2)
        self.expect(oshrun("--hostfile", "/no/such", "true"), 2, "--hostfile /no/such: the file cannot be read")


class Tcp(Case):
    def test_missing_rank_is_named_to_everyone(self):
        for result in tcp(4, ranks=[0, 1], SHMEM_TIMEOUT=2):
            self.expect(result, 4, "PEs 2 and 3 of 4 did not connect within 2 s", within=8)

    def test_missing_pe_zero(self):
        port = free_port()
        for result in tcp(2, ranks=[1], SHMEM_TIMEOUT=1, port=port):
            self.expect(result, 4, f"PE 1 could not reach PE 0 at MASTER_ADDR 127.0.0.1, ports {port} to",
                        "Connection refused", within=8)

    def test_rank_given_twice(self):
        results = tcp(3, ranks=[0, 1, 1], SHMEM_TIMEOUT=5)
        self.expect(results[0], 4, "RANK 1 was given twice", within=8)
        self.assertEqual([r.status for r in results], [4, 4, 4], str(results[1]) + str(results[2]))
        self.assertTrue(all("RANK 1 was given twice" in r.err for r in results), str(results[1]) + str(results[2]))

    def test_rank_zero_given_twice(self):
        results = tcp(3, ranks=[0, 0], SHMEM_TIMEOUT=5)
        for result in results:
            self.expect(result, 4, "RANK 0 was given twice", within=8)

    def test_rank_out_of_range(self):
        self.expect(tcp(2, ranks=[2])[0], 4, "RANK is 2, but WORLD_SIZE is 2")

    def test_sizes_differ(self):
        for result in tcp(3, ranks=[0, 1], sizes=[3, 2], SHMEM_TIMEOUT=5):
            self.expect(result, 4, "PE 1 (host ", "has WORLD_SIZE 2, but PE 0 (host ", "has 3", within=8)

    def test_malformed_rank(self):
        self.expect(tcp(2, ranks=[""], SHMEM_BOOTSTRAP="tcp")[0], 4, "needs RANK, which is not set")
        for rank in ("x", "1x", "-1", "99999999999", " 1"):
            self.expect(tcp(2, ranks=[rank], SHMEM_BOOTSTRAP="tcp")[0], 4, f"RANK is '{rank}'")

    def test_missing_variable(self):
        env = environment(SHMEM_BOOTSTRAP="tcp", RANK=0, WORLD_SIZE=1, MASTER_PORT=1)
        self.expect(Job([PROBE], env).wait(), 4, "needs MASTER_ADDR, which is not set", "torchrun")

    def test_address_of_another_host(self):
        # 192.0.2.1 is for documents: nobody has it.
        for result in tcp(2, ranks=[0], MASTER_ADDR="192.0.2.1", SHMEM_TIMEOUT=1):
            self.expect(result, 4, "warn: MASTER_ADDR (192.0.2.1) is not this host's", "must be the host where RANK 0 runs",
                        "PE 1 of 2 did not connect", within=8)

    def test_all_ports_in_use(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            for result in tcp(2, ranks=[0], port=other.getsockname()[1], SHMEM_TCP_PORTS=1):
                self.expect(result, 4, "all of them are in use", "Choose another MASTER_PORT", within=8)

    def test_unknown_interface(self):
        for result in tcp(18, ranks=[0, 1], SHMEM_TCP_INTERFACE="nope0", SHMEM_TIMEOUT=1)[1:]:
            self.expect(result, 4, "SHMEM_TCP_INTERFACE is 'nope0'", "lo")

    def test_unknown_interface_in_a_small_job(self):
        for npes in (1, 2):
            for result in tcp(npes, SHMEM_TCP_INTERFACE="nope0", SHMEM_TIMEOUT=5):
                self.expect(result, 4, "SHMEM_TCP_INTERFACE is 'nope0'", "lo")

    def test_everyone_learns_who_died(self):
        results = tcp(20, "die-by-signal", 18)
        for pe, result in enumerate(results):
            self.expect(result, -signal.SIGABRT if pe == 18 else 5, *(["learnt: PE 18 has died"] if pe != 18 else []))

    def test_abort_ends_everyone(self):
        for result in tcp(20, "abort-7", 17):
            self.expect(result, 7)

    def test_absent_pe_is_named(self):
        results = tcp(3, "silent", 1, SHMEM_TIMEOUT=1)
        for result in results[::2]:
            self.expect(result, 4, "PE 1 did not come to the exchange within 1 s", within=8)

    def test_unique_id_needs_its_maker_as_pe_zero(self):
        with tempfile.TemporaryDirectory() as folder:
            jobs = [Job([ID_PROBE, str(pe), "2", f"{folder}/id", "1"], environment(SHMEM_TIMEOUT=2)) for pe in range(2)]
            results = wait_all(jobs)
            self.expect(results[0], 4, "PE 0 did not make this unique id")
            self.expect(results[1], 4, "must join as PE 0, not as PE 1")


class NoLimit(Case):
    """SHMEM_TIMEOUT=0."""

    def test_tcp(self):
        settings = dict(MASTER_ADDR="127.0.0.1", MASTER_PORT=free_port(), WORLD_SIZE=2, SHMEM_TIMEOUT=0)
        root = Job([PROBE], environment(RANK=0, **settings))
        time.sleep(1)
        for result in wait_all([root, Job([PROBE], environment(RANK=1, **settings))]):
            self.expect(result, 0)

    def test_oshrun(self):
        self.expect(oshrun("-n", 2, PROBE, SHMEM_TIMEOUT=0), 0)

    def test_hydra(self):
        self.need("mpiexec.hydra")
        env = environment(ASAN_OPTIONS="detect_leaks=0", SHMEM_TIMEOUT=0)
        self.expect(Job(["mpiexec.hydra", "-n", "2", PROBE], env).wait(), 0)


class Choice(Case):
    def test_tasks_outside_their_launcher(self):
        env = environment(SLURM_PROCID=1, SLURM_NTASKS=4)
        self.expect(Job([PROBE], env).wait(), 0, "warn: SLURM_PROCID is 1 and SLURM_NTASKS is 4", "a job of one PE",
                    "srun --mpi=pmix")
        self.expect(Job([PROBE], environment(RANK=0, WORLD_SIZE=2)).wait(), 0, "warn: RANK is 0 and WORLD_SIZE is 2",
                    "MASTER_ADDR and MASTER_PORT are not set", "torchrun")
        self.assertEqual(Job([PROBE], environment()).wait().err, "")

    def test_stale_pmix_variables(self):
        self.need(os.path.join(BIN, "../railshmem/librailshmem-bootstrap-pmix.so"))
        env = environment(PMIX_RANK=0, PMIX_NAMESPACE="gone", PMIX_SERVER_URI2="gone.0;tcp4://127.0.0.1:1",
                          ASAN_OPTIONS="detect_leaks=0")
        self.expect(Job([PROBE], env).wait(), 4, "PMIx_Init failed", "unset what another job has left", "PMIX_RANK",
                    "PMIX_NAMESPACE", "PMIX_SERVER_URI2")

    def test_explicit_choice_without_its_launcher(self):
        for name, phrase in (("local", "RAILSHMEM_LAUNCHER_FD"), ("pmi", "PMI_FD"), ("pmix", "PMIX_RANK"),
                             ("mpi", "Open MPI or MPICH"), ("tcp", "WORLD_SIZE")):
            self.expect(Job([PROBE], environment(SHMEM_BOOTSTRAP=name)).wait(), 4, phrase)

    def test_wrong_plugin(self):
        env = environment(SHMEM_BOOTSTRAP="mpi", SHMEM_MPI_PLUGIN="/no/such.so")
        self.expect(Job([PROBE], env).wait(), 4, "cannot load the bootstrap plug-in", "/no/such.so")


class Hydra(Case):
    def test_abort_status(self):
        self.need("mpiexec.hydra")
        result = Job(["mpiexec.hydra", "-n", "3", PROBE, "abort-7", "1"], environment(ASAN_OPTIONS="detect_leaks=0")).wait()
        self.expect(result, 7, within=20)


if __name__ == "__main__":
    main()
