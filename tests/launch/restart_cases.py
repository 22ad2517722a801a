#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that start the library more than once, by other names of jobs, and programs that use MPI beside it."""
import tempfile

from launch_support import BIN, OSHRUN, Case, Job, environment, main, wait_all


class UniqueIds(Case):
    def processes(self, way, *launcher, **settings):
        program = f"{BIN}/unique_id_jobs"
        with tempfile.TemporaryDirectory() as folder:
            jobs = [Job([*launcher, program, str(rank), folder, way],
                        environment(SHMEM_SYMMETRIC_SIZE="16M", SHMEM_TIMEOUT=20, **settings)) for rank in range(4)]
            results = wait_all(jobs)
        for result in results:
            self.expect(result, 0, "fine", where="out")
        return results

    def test_one_job_after_the_other(self):
        for result in self.processes("after"):
            self.expect(result, 0, "in the job of this unique id before shmem_finalize, and cannot be PE")
            self.assertEqual(result.err.count("error"), 1, str(result))

    def test_the_launcher_says_which_job_has_no_name(self):
        self.processes("after", OSHRUN, "-n", "1")

    def test_nested(self):
        for rank, result in enumerate(self.processes("nested")):
            self.expect(result, 0, f"this process is PE {rank} of 4 of a job by unique id already, and this start asks for "
                        f"PE {rank % 2} of 2 of another job by unique id; call shmem_finalize first",
                        f"and this start asks for PE {3 - rank} of 4 of another job by unique id",
                        f"this process is PE {rank % 2} of 2 of a job by unique id already, and this start asks for "
                        f"PE {rank % 2} of 2 of another job by unique id")
            self.assertEqual(result.err.count("error"), 3, str(result))


class Mpi(Case):
    def mpi(self, flavour, npes, order, **settings):
        program = f"{BIN}/mpi_orders_{flavour}"
        launcher = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"], "mpich": ["mpiexec.hydra"]}[flavour]
        self.need(launcher[0], program)
        # A folder of its own: an mpirun that ends removes the folder of all of a user, while another one begins in it.
        with tempfile.TemporaryDirectory(prefix="mpi") as folder:
            env = environment(TMPDIR=folder, SHMEM_SYMMETRIC_SIZE="16M", SHMEM_TIMEOUT=30, **settings)
            result = Job([*launcher, "-n", str(npes), program, order], env).wait()
        self.expect(result, 0)
        self.assertEqual(result.out.count("fine"), npes, str(result))
        return result

    def ends_well(self, order, npes=2, **settings):
        for flavour in self.flavours():
            result = self.mpi(flavour, npes, order, **settings)
            for word in ("railshmem: ", "error"):
                self.assertNotIn(word, result.err, str(result))

    def flavours(self):
        found = [flavour for flavour in ("openmpi", "mpich") if self.has(f"{BIN}/mpi_orders_{flavour}")]
        if not found:
            self.skipTest("there is no MPI")
        return found

    def test_mpi_ends_first(self):
        self.ends_well("shmem-last", npes=3)

    def test_mpi_ends_first_with_a_network(self):
        self.ends_well("shmem-last", SHMEM_TRANSPORT="ofi", SHMEM_OFI_PROVIDER="tcp")

    def test_mpi_starts_last_and_ends_first(self):
        self.ends_well("before-first")

    def test_the_library_starts_again_after_mpi(self):
        result = self.mpi("openmpi", 2, "after-mpi")
        self.assertNotIn("railshmem: ", result.err, str(result))

    def test_pmi_ends_with_mpi(self):
        program = f"{BIN}/mpi_orders_mpich"
        self.need("mpiexec.hydra", program)
        env = environment(SHMEM_SYMMETRIC_SIZE="16M", SHMEM_TIMEOUT=30)
        result = Job(["mpiexec.hydra", "-n", "2", program, "after-mpi"], env).wait()
        self.expect(result, 1, "MPI_Finalize has ended PMI in this process; call shmem_init before MPI_Finalize")

    def test_one_communicator_after_the_other(self):
        self.ends_well("halves-then-all", npes=4)

    def test_another_order_and_back(self):
        self.ends_well("reversed", npes=3)

    def test_nested(self):
        for flavour in self.flavours():
            result = self.mpi(flavour, 4, "nested")
            self.expect(result, 0, "PE 0 of 4 of the launcher's job (bootstrap mpi) already, and this start asks for PE 0 of 2 of "
                        "another job by communicator; call shmem_finalize first")


if __name__ == "__main__":
    main()
