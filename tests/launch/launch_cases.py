# SPDX-License-Identifier: BSD-3-Clause
"""Every bootstrap under its launcher runs the conformance suite."""
import os
import signal
import socket
import tempfile
import time

from launch_support import BIN, ID_PROBE, OSHRUN, PROBE, Case, Job, environment, main, oshrun, tcp, wait_all


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

    def test_program_without_launcher_is_one_pe(self):
        self.expect(Job([PROBE]).wait(), 0, "single: 1 PEs agree", where="out")


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
        self.mpi("never-mpi")

    def test_communicator(self):
        self.mpi("half")


class Mpirun(Case):
    def mpirun(self, npes, program, *words, **settings):
        self.need("mpirun.openmpi", program)
        command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(npes), program, *words]
        return Job(command, environment(ASAN_OPTIONS="detect_leaks=0", SHMEM_TIMEOUT=30, **settings)).wait()

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
