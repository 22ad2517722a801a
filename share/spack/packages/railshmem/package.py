# SPDX-License-Identifier: BSD-3-Clause
"""How Spack builds RailSHMEM out of a folder with its sources (docs/packages.md)."""
from spack.package import *


class Railshmem(CMakePackage, CudaPackage):
    """RailSHMEM is an OpenSHMEM 1.6 library for CPUs and GPUs, over all network cards at once."""

    license("BSD-3-Clause")

    version("0.2.0")

    variant("fabric", default=True, description="Networks, by libfabric")
    variant("pmix", default=True, description="Start by launchers with PMIx: mpirun of Open MPI, srun, prterun")
    variant("mpi", default=False, description="Start of programs that use MPI, too")
    variant("perftest", default=True, description="The benchmarks shmem_perf and shmem_info")

    depends_on("c", type="build")  # what oshcc calls
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("hwloc@2.1:")
    depends_on("libfabric@1.14:", when="+fabric")
    depends_on("pmix", when="+pmix")
    depends_on("mpi", when="+mpi")
    depends_on("cli11", type="build")  # oshrun
    depends_on("nlohmann-json", when="+perftest", type="build")

    conflicts("%gcc@:10", msg="RailSHMEM needs GCC 11 or newer")

    generator("ninja")

    # The installed wrappers call the compiler itself, not Spack's, which runs inside of Spack only.
    filter_compiler_wrappers("oshcc", "oshc++", "oshcxx", "oshCC", "oshCXX", relative_root="bin")

    def cmake_args(self):
        wanted = {"CUDA": "+cuda", "OFI": "+fabric", "PMIX": "+pmix", "MPI": "+mpi"}
        args = [self.define(f"RAILSHMEM_{part}", "ON" if variant in self.spec else "OFF") for part, variant in wanted.items()]
        args += [self.define("RAILSHMEM_HWLOC", "ON"), self.define_from_variant("RAILSHMEM_PERFTEST", "perftest")]
        args += [self.define(f"RAILSHMEM_{part}", False) for part in ("TESTS", "EXAMPLES", "PYTHON", "BITCODE")]
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_hello(self):
        """Builds the first example with the installed oshcc and runs two PEs of it."""
        with working_dir(self.build_directory):
            Executable(self.prefix.bin.oshcc)(join_path(self.stage.source_path, "examples", "01_hello.c"), "-o", "hello")
            Executable(self.prefix.bin.oshrun)("-n", "2", "--timeout", "60", "./hello")
