# SPDX-License-Identifier: BSD-3-Clause
"""Every bootstrap under its launcher runs the conformance suite."""
import hashlib
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

from launch_support import BIN, FAKE_SSH, ID_PROBE, OSHRUN, PROBE, Case, Job, environment, main, oshrun, oshrun_on, tcp, wait_all

COMPLETION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bootstrap/local/oshrun/completion.bash")


class Oshrun(Case):
    def suite(self, npes, *words):
        self.expect(oshrun("-n", npes, PROBE, *words), 0, f"local: {npes} PEs agree", where="out")

    def test_one(self):
        self.suite(1)

    def test_two(self):
        self.suite(2)

    def test_three_watched(self):
        self.suite(3, "suite", "watched")

    def test_eight(self):
        self.suite(8)

    def test_sixtyfour(self):
        self.suite(64)

    def test_sixtyfour_start_quickly(self):
        self.expect(oshrun("-n", 64, "true"), 0, within=5)

    def test_options_stop_at_the_program(self):
        result = oshrun("-n", 1, "echo", "-n", "3", "--timeout")
        self.expect(result, 0, "3 --timeout", where="out")

    def test_double_dash(self):
        self.expect(oshrun("-n", 1, "--", "echo", "--", "x"), 0, "-- x", where="out")

    def test_environment_is_set(self):
        self.expect(oshrun("-n", 1, "-x", "ONE=1 2", "--env", "TWO=b=c", "sh", "-c", "echo $ONE,$TWO"), 0, "1 2,b=c",
                    where="out")

    def test_tagged_lines_are_whole(self):
        program = "for i in 1 2 3 4 5 6 7 8 9; do printf ab; printf 'cd\\n'; printf 'ef\\n' >&2; done; printf end"
        result = oshrun("-n", 4, "--tag-output", "sh", "-c", program)
        self.expect(result, 0)
        for pe in range(4):
            self.assertEqual(result.out.count(f"[{pe}] abcd\n"), 9, str(result))
            self.assertEqual(result.out.count(f"[{pe}] end\n"), 1, str(result))
            self.assertEqual(result.err.count(f"[{pe}] ef\n"), 9, str(result))
        self.assertEqual(len(result.out.splitlines()), 40, str(result))

    def test_stdin_goes_to_pe_zero(self):
        result = oshrun("-n", 3, "--tag-output", "cat", stdin="hello\n")
        self.expect(result, 0)
        self.assertEqual(result.out, "[0] hello\n", str(result))

    def test_signals_are_forwarded(self):
        for name in ("USR1", "USR2", "HUP", "TERM", "INT"):
            program = f"trap 'echo got; exit 0' {name}; echo up; while :; do sleep 0.05; done"
            job = Job([OSHRUN, "-n", "2", "--tag-output", "sh", "-c", program])
            for _ in range(2):
                job.process.stdout.readline()
            job.process.send_signal(getattr(signal, f"SIG{name}"))
            result = job.wait()
            self.expect(result, 0)
            self.assertEqual(sorted(result.out.split("\n")[:2]), ["[0] got", "[1] got"], f"{name}: {result}")

    def test_np_is_n(self):
        self.expect(oshrun("-np", 2, PROBE), 0, "local: 2 PEs agree", where="out")
        self.expect(oshrun("--timeout", 30, "-np", 1, "echo", "-np", "7"), 0, "-np 7", where="out")

    def test_version(self):
        result = oshrun("--version")
        self.expect(result, 0)
        self.assertRegex(result.out, r"^oshrun, RailSHMEM \d+\.\d+\.\d+\n$")

    def test_a_name_alone_passes_a_variable_on(self):
        self.expect(oshrun("-n", 1, "-x", "ONE", "sh", "-c", "echo $ONE", ONE="two"), 0, "two", where="out")

    def test_working_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            result = oshrun("-n", 2, "--wdir", folder, "sh", "-c", "pwd; echo $PWD")
            self.expect(result, 0)
            self.assertEqual(result.out, f"{os.path.realpath(folder)}\n{folder}\n" * 2)
            # Other hosts hear it from the root: they start elsewhere.
            result = Job([OSHRUN, "-n", "1", "--wdir", "..", "sh", "-c", "echo $PWD"], cwd=folder).wait()
            self.expect(result, 0, f"{os.path.realpath(folder)}/..", where="out")

    def masks(self, *words, command=(OSHRUN,)):
        program = "grep Cpus_allowed_list /proc/self/status | cut -f 2"
        result = Job([*command, *map(str, words), "sh", "-c", program]).wait()
        self.expect(result, 0)
        return result.out.split()

    def need_cpus(self, count):
        if len(os.sched_getaffinity(0)) < count:
            self.skipTest(f"fewer than {count} CPUs here")

    def test_pes_are_bound_to_cores_of_their_own(self):
        self.need_cpus(2)
        everything = self.masks("-n", 1)
        masks = self.masks("-n", 2)
        if len(set(masks)) == 1:  # one core with two hardware threads
            self.assertEqual(masks, everything * 2)
            self.skipTest("this machine has too few cores")
        self.assertEqual(len(set(masks)), 2)
        self.assertNotIn(everything[0], masks)
        self.assertEqual(self.masks("-n", 2, "--bind-to", "none"), everything * 2)
        more = len(os.sched_getaffinity(0)) + 1
        self.assertEqual(self.masks("-n", more), everything * more)

    def test_the_mask_of_oshrun_is_respected(self):
        self.need("taskset")
        last = str(max(os.sched_getaffinity(0)))
        for words in (["-n", 1], ["-n", 1, "--bind-to", "core"], ["-n", 3], ["-n", 2, "--bind-to", "numa"]):
            masks = self.masks(*words, command=("taskset", "-c", last, OSHRUN))
            self.assertEqual(masks, [last] * words[1])

    def test_polling_by_tests_lets_others_run(self):
        self.need("taskset")
        cpu = str(min(os.sched_getaffinity(0)))
        for how in ("test", "test_all", "test_any", "test_some"):
            command = ["taskset", "-c", cpu, OSHRUN, "-n", "2", f"{BIN}/polls_by_tests", how]
            result = Job(command, environment(SHMEM_TRANSPORT="p2p", SHMEM_SYMMETRIC_SIZE="1M")).wait()
            self.expect(result, 0)
            waiting, testing = map(float, result.out.split())
            # A PE that keeps the CPU while it polls does so for some milliseconds in each of 800 turns.
            self.assertLess(testing, 3 * waiting + 0.8, f"{how}: {result}")

    def test_verbose_says_where_pes_run(self):
        result = oshrun("-n", 2, "-v", "true")
        self.expect(result, 0)
        self.assertEqual(len(re.findall(r"^oshrun: PE [01] \(pid \d+\) (?:is bound to|may run on all) CPUs [\d,-]+$",
                                        result.err, re.MULTILINE)), 2, str(result))

    def valgrind(self, transport):
        self.need("valgrind")
        if os.environ.get("RAILSHMEM_TEST_SANITIZE"):
            self.skipTest("valgrind cannot run a program with sanitizers")
        file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/valgrind.supp")
        command = [OSHRUN, "-n", "2", "valgrind", f"--suppressions={file}", "--leak-check=full", "--show-leak-kinds=all",
                   "--errors-for-leak-kinds=all", "--error-exitcode=9", f"{BIN}/polls_by_tests", "test", "5"]
        env = environment(SHMEM_TRANSPORT=transport, SHMEM_OFI_PROVIDER="tcp;ofi_rxm", SHMEM_TIMEOUT=90,
                          SHMEM_SYMMETRIC_SIZE="4M")
        result = Job(command, env).wait(patience=110)
        if "cannot load libfabric" in result.err or "allows no network" in result.err:
            self.skipTest("built without libfabric")
        self.expect(result, 0, "ERROR SUMMARY: 0 errors")

    def test_valgrind_finds_nothing_over_p2p(self):
        self.valgrind("p2p")

    def test_valgrind_finds_nothing_over_ofi(self):
        self.valgrind("ofi")

    def complete(self, *words):
        self.need("bash")
        program = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _oshrun "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
        result = Job(["bash", "-c", program, "bash", COMPLETION, OSHRUN, *words]).wait()
        self.expect(result, 0)
        self.assertEqual(result.err, "")
        return result.out.split()

    def test_bash_completes_every_option(self):
        told = set(re.findall(r"--[a-z-]+", oshrun("--help").out))
        self.assertIn("--bind-to", told)
        self.assertLessEqual(told, set(self.complete("-")))
        self.assertEqual(self.complete("-n", "2", "--hostf"), ["--hostfile"])

    def test_bash_knows_which_options_take_a_value(self):
        # An option a line: its names, then the kind of its value where it takes one.
        found = re.findall(r"^ +(-[^ ]+) ([A-Z]+)?", oshrun("--help").out, re.MULTILINE)
        named = [(name, bool(value)) for names, value in found for name in names.split(",")] + [("-np", True)]
        self.assertIn(("--wdir", True), named)
        self.assertIn(("-v", False), named)
        for name, takes_value in named:
            # What takes a value is not yet followed by the program.
            self.assertEqual(self.complete(name, "word", "--bind"), ["--bind-to"] if takes_value else [], name)
        with open(COMPLETION, encoding="utf-8") as file:
            cases = re.findall(r"^ +(-[^)]*)\)", file.read(), re.MULTILINE)
        listed = {name for case in cases for name in case.split(" | ")} - {"--", "-*"}
        self.assertEqual(listed, {name for name, takes_value in named if takes_value})

    def test_bash_completes_values_and_leaves_the_program_alone(self):
        self.assertEqual(self.complete("--bind-to", "n"), ["numa", "none"])
        self.assertEqual(self.complete("-n", "2", "prog", "--bi"), [])
        self.assertIn("sleep", self.complete("-n", "2", "slee"))

    def test_program_without_launcher_is_one_pe(self):
        self.expect(Job([PROBE]).wait(), 0, "single: 1 PEs agree", where="out")


class Hosts(Case):
    """oshrun over ssh."""

    def test_two_hosts_agree(self):
        self.expect(oshrun_on("one:2,two:3", PROBE), 0, "local: 5 PEs agree", where="out")

    def test_this_host_and_another(self):
        self.expect(oshrun_on("localhost:2,two:2", PROBE), 0, "local: 4 PEs agree", where="out")

    def test_this_host_by_two_names_needs_no_ssh(self):
        result = oshrun("--ssh", "/no/such/ssh", "-H", f"localhost,{socket.gethostname()}", PROBE)
        self.expect(result, 0, "local: 2 PEs agree", where="out")

    def test_addresses_of_this_host_need_no_ssh(self):
        for hosts in ("127.0.0.1:2", "::1,::1", "[::1]:2", "LOCALHOST:2", "localhost, 127.0.0.1", "localhost.:2"):
            result = oshrun("--ssh", "/no/such/ssh", "-H", hosts, PROBE)
            self.expect(result, 0, "local: 2 PEs agree", where="out")

    def test_exchanges_are_watched(self):
        self.expect(oshrun_on("one:2,two:2", PROBE, "suite", "watched"), 0, "local: 4 PEs agree", where="out")

    def test_pes_are_divided_evenly_without_slots(self):
        result = oshrun_on("one,two", "-n", 5, "sh", "-c", "echo $FAKE_HOST $RAILSHMEM_LAUNCHER_PE")
        self.expect(result, 0)
        self.assertEqual(sorted(result.out.splitlines()), ["one 0", "one 1", "one 2", "two 3", "two 4"])

    def test_hostfile(self):
        with tempfile.NamedTemporaryFile("w", suffix=".hosts") as hosts:
            hosts.write("# two hosts\none slots=1\ntwo:2 # more\n\n")
            hosts.flush()
            result = oshrun("--ssh", FAKE_SSH, "--hostfile", hosts.name, "sh", "-c", "echo $FAKE_HOST")
            self.expect(result, 0)
            self.assertEqual(sorted(result.out.splitlines()), ["one", "two", "two"])

    def test_environment_and_directory_are_those_of_oshrun(self):
        with tempfile.TemporaryDirectory() as folder:
            odd = "a 'quoted' $value\nof two lines"
            command = [OSHRUN, "--ssh", FAKE_SSH, "-H", "one", "-x", "THREE=4", "sh", "-c", 'echo "$PWD|$ODD|$THREE|$SSH_X"']
            process = Job(command, environment(ODD=odd, SSH_X="mine"), cwd=folder)
            result = process.wait()
            self.expect(result, 0)
            self.assertEqual(result.out, f"{folder}|{odd}|4|\n")

    def test_nothing_of_the_environment_is_on_a_command_line(self):
        program = "tr '\\0' ' ' < /proc/$PPID/cmdline"
        result = oshrun_on("one", "sh", "-c", program, HIDDEN_KEY="4711-secret")
        self.expect(result, 0, "--relay", where="out")
        self.assertNotIn("4711-secret", result.out)

    def test_stdin_reaches_pe_zero(self):
        text = "".join(f"line {i}\n" for i in range(50000))
        result = Job([OSHRUN, "--ssh", FAKE_SSH, "-H", "one:2", "md5sum"], stdin=text).wait()
        self.expect(result, 0)
        self.assertEqual(sorted(line.split()[0] for line in result.out.splitlines()),
                         sorted(hashlib.md5(data).hexdigest() for data in (text.encode(), b"")))

    def test_output_is_whole_and_tagged(self):
        program = "for i in 1 2 3 4 5; do seq 1 2000; done; echo last >&2"
        result = oshrun_on("one:1,two:2", "--tag-output", "sh", "-c", program)
        self.expect(result, 0)
        for pe in range(3):
            self.assertEqual(sum(line.startswith(f"[{pe}] ") for line in result.out.splitlines()), 10000)
            self.assertIn(f"[{pe}] last\n", result.err)

    def test_output_waits_for_a_slow_reader(self):
        # More than the buffers on the way take; the PEs have ended long before.
        program = "head -c 65536 /dev/zero | tr '\\0' x"
        job = Job([OSHRUN, "--ssh", FAKE_SSH, "-H", "one:16", "sh", "-c", program])
        time.sleep(12)
        result = job.wait()
        self.assertEqual((result.status, result.out.count("x"), result.err), (0, 16 * 65536, ""))

    def test_signals_reach_other_hosts(self):
        program = "trap 'echo got; exit 0' USR1; echo up; while :; do sleep 0.05; done"
        job = Job([OSHRUN, "--ssh", FAKE_SSH, "-H", "one,two", "sh", "-c", program])
        for _ in range(2):
            job.process.stdout.readline()
        job.process.send_signal(signal.SIGUSR1)
        result = job.wait()
        self.expect(result, 0)
        self.assertEqual(result.out, "got\ngot\n")


    def await_states(self, pids, stopped):
        for _ in range(100):
            if all((self.state(pid) == "T") == stopped for pid in pids):
                return
            time.sleep(0.1)
        self.fail(f"{[(pid, self.state(pid)) for pid in pids]}: stopped should be {stopped}")

    def test_stop_and_continue_reach_other_hosts(self):
        job = Job([OSHRUN, "--ssh", FAKE_SSH, "-H", "one,two", "sh", "-c", "echo $$; while :; do sleep 0.05; done"])
        self.addCleanup(job.process.kill)
        pids = [job.process.pid] + [int(job.process.stdout.readline()) for _ in range(2)]
        for _ in range(2):
            job.process.send_signal(signal.SIGTSTP)
            self.await_states(pids, stopped=True)
            job.process.send_signal(signal.SIGCONT)
            self.await_states(pids, stopped=False)
        job.process.send_signal(signal.SIGTERM)
        self.expect(job.wait(), 143, within=30)


class Tcp(Case):
    def suite(self, npes, *words, **settings):
        for rank, result in enumerate(tcp(npes, *words, **settings)):
            self.expect(result, 0, *([f"tcp: {npes} PEs agree"] if rank == 0 else []), where="out")

    def test_one(self):
        self.suite(1)

    def test_two(self):
        self.suite(2)

    def test_five_watched(self):
        self.suite(5, "suite", "watched")

    def test_twenty_in_two_levels(self):
        self.suite(20)

    def test_twenty_with_a_secret(self):
        self.suite(20, SHMEM_TCP_SECRET="correct horse battery staple")

    def test_ipv6(self):
        if not os.path.exists("/proc/net/if_inet6"):
            self.skipTest("no IPv6 here")
        self.suite(3, MASTER_ADDR="::1")

    def test_host_name(self):
        self.suite(3, MASTER_ADDR="localhost")

    def test_interface(self):
        self.suite(18, SHMEM_TCP_INTERFACE="lo")

    def test_occupied_port(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            self.suite(3, port=silent.getsockname()[1])

    def test_pe_zero_comes_late(self):
        port_holder = socket.socket()
        port_holder.bind(("127.0.0.1", 0))
        port = port_holder.getsockname()[1]
        port_holder.close()
        settings = dict(WORLD_SIZE=2, MASTER_ADDR="127.0.0.1", MASTER_PORT=port, SHMEM_TIMEOUT=30)
        member = Job([PROBE], environment(RANK=1, **settings))
        time.sleep(1)
        root = Job([PROBE], environment(RANK=0, **settings))
        self.expect(root.wait(), 0)
        self.expect(member.wait(), 0)

    def test_unique_id(self):
        with tempfile.TemporaryDirectory() as folder:
            jobs = [Job([ID_PROBE, str(pe), "4", f"{folder}/id"], environment(SHMEM_TIMEOUT=30)) for pe in range(4)]
            for result in wait_all(jobs):
                self.expect(result, 0)


class Hydra(Case):
    def hydra(self, npes, program, *words, options=()):
        self.need("mpiexec.hydra", program)
        command = ["mpiexec.hydra", *options, "-n", str(npes), program, *words]
        return Job(command, environment(ASAN_OPTIONS="detect_leaks=0", SHMEM_TIMEOUT=30)).wait()

    def test_two(self):
        self.expect(self.hydra(2, PROBE), 0, "pmi: 2 PEs agree", where="out")

    def test_four(self):
        self.expect(self.hydra(4, PROBE), 0, "pmi: 4 PEs agree", where="out")

    def test_port(self):
        self.expect(self.hydra(2, PROBE, options=["-pmi-port"]), 0, "pmi: 2 PEs agree", where="out")

    def test_port_of_a_host_without_name_service(self):
        self.need("mpiexec.hydra", "unshare", PROBE)
        if subprocess.run(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this user may not rename a host of its own (unshare --uts); run as root")
        job = ["sh", "-c", 'hostname railshmem-nowhere && exec "$@"', "sh", "mpiexec.hydra", "-pmi-port", "-n", "2", PROBE]
        result = Job(["unshare", "--uts", *job], environment(ASAN_OPTIONS="detect_leaks=0", SHMEM_TIMEOUT=30)).wait()
        self.expect(result, 0, "pmi: 2 PEs agree", where="out")

    def mpi(self, *words):
        result = self.hydra(2, f"{BIN}/mpi_probe_mpich", *words)
        self.expect(result, 0)
        self.assertEqual(result.out.count("fine"), 2, str(result))

    def test_mpi_first(self):
        self.mpi("mpi-first")

    def test_mpi_first_shmem_last(self):
        self.mpi("mpi-first", "shmem-last")

    def test_shmem_first(self):
        self.mpi("shmem-first")

    def test_shmem_first_shmem_last(self):
        self.mpi("shmem-first", "shmem-last")

    def test_shmem_before_mpi(self):
        self.mpi("shmem-before")

    def test_mpi_linked_but_unused(self):
        # One PE leaves late: an exit without PMI's finalize would make mpiexec kill it.
        probe = f"{BIN}/mpi_probe_mpich"
        self.need(probe)
        self.expect(self.hydra(3, "sh", "-c", f"{probe} never-mpi && test $PMI_RANK != 0 || sleep 0.5"), 0)

    def test_communicator(self):
        self.mpi("half")


class Mpirun(Case):
    def mpirun(self, npes, program, *words, **settings):
        self.need("mpirun.openmpi", program)
        command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(npes), program, *words]
        # A folder of its own: an mpirun that ends removes the folder of all of a user, while another one begins in it.
        with tempfile.TemporaryDirectory(prefix="mpi") as folder:
            return Job(command, environment(TMPDIR=folder, ASAN_OPTIONS="detect_leaks=0", SHMEM_TIMEOUT=30, **settings)).wait()

    def test_pmix_two(self):
        self.need(f"{BIN}/../railshmem/librailshmem-bootstrap-pmix.so")
        self.expect(self.mpirun(2, PROBE), 0, "pmix: 2 PEs agree", where="out")

    def test_mpi_asked_for(self):
        self.need(f"{BIN}/../railshmem/librailshmem-bootstrap-mpi-openmpi.so")
        self.expect(self.mpirun(2, PROBE, SHMEM_BOOTSTRAP="mpi"), 0, "mpi: 2 PEs agree", where="out")

    def mpi(self, *words):
        result = self.mpirun(2, f"{BIN}/mpi_probe_openmpi", *words)
        self.expect(result, 0)
        self.assertEqual(result.out.count("fine"), 2, str(result))

    def test_mpi_first(self):
        self.mpi("mpi-first")

    def test_mpi_first_shmem_last(self):
        self.mpi("mpi-first", "shmem-last")

    def test_shmem_first(self):
        self.mpi("shmem-first")

    def test_shmem_first_shmem_last(self):
        self.mpi("shmem-first", "shmem-last")

    def test_communicator(self):
        self.mpi("half")


if __name__ == "__main__":
    main()
