# SPDX-License-Identifier: BSD-3-Clause
"""PEs to which the system refuses a thread, memory or descriptors: they name the call, the limit and what to do."""
import os
import re
import subprocess

from launch_support import BIN, OSHRUN, Case, Job, environment, main

PROBE = os.path.join(BIN, "job_end_probe")
SETTINGS = {"SHMEM_SYMMETRIC_SIZE": "4M", "SHMEM_TIMEOUT": 8}
NETWORK = {**SETTINGS, "SHMEM_TRANSPORT": "ofi", "SHMEM_OFI_PROVIDER": "tcp"}
START = [PROBE, "return", "0", "return"]
# Starts a program as a user that has no other process, where the caller may become one, with a limit on processes.
FEW_PROCESSES = """
import os, resource, sys
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(54322)
    os.setuid(54322)
resource.setrlimit(resource.RLIMIT_NPROC, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Limits(Case):
    def refused_threads(self, purpose, **settings):
        command = [OSHRUN, "-n", "2", os.path.join(BIN, "refuse_call"), "clone3", *START]
        result = Job(command, environment(**settings)).wait()
        if result.status == 77:
            self.skipTest("this kernel takes no filter of system calls")
        self.expect(result, 1, f"error: shmem_init: this PE cannot start: cannot start {purpose}: pthread_create failed: "
                               "Operation not permitted; a filter of system calls, as containers have, refuses it: allow clone "
                               "and clone3\n")

    def test_a_filter_refuses_the_proxy_thread(self):
        self.refused_threads("a proxy thread", **NETWORK)

    def test_a_filter_refuses_the_watch(self):
        self.refused_threads("the watch over the job", **SETTINGS)

    def each_names(self, option, values, calls, env):
        """Jobs under `ulimit OPTION VALUE` start, or each error names one of the calls and the limit."""
        refused = 0
        for value in values:
            # oshrun itself runs without the limit.
            command = [OSHRUN, "-n", "2", "sh", "-c", f'ulimit {option} {value}; exec "$@"', "sh", *START]
            result = Job(command, environment(**env)).wait()
            if result.status == 0:
                continue
            errors = [line for line in result.err.splitlines() if "error: " in line]
            self.assertTrue(errors, f"{option} {value}: {result}")
            for line in errors:
                if "this PE cannot start" not in line:  # a peer tells of the first one's end
                    continue
                refused += 1
                self.assertRegex(line, f"this PE cannot start: .*({calls}).*; the limit on [a-z ]+ is [0-9]+: raise it "
                                       f"\\(ulimit {option}\\)", f"{option} {value}: {result}")
        self.assertGreater(refused, 0, f"no value of ulimit {option} was too low")

    def test_little_memory_for_data(self):
        self.each_names("-d", (5000, 20000, 60000), "pthread_create failed|malloc failed|fi_[a-z_]+ failed|mmap", NETWORK)

    def test_little_address_space(self):
        self.each_names("-v", (100000, 150000, 200000, 250000, 300000),
                        "pthread_create failed|malloc failed|fi_[a-z_]+ failed|mmap|cannot reserve", NETWORK)

    def test_few_descriptors(self):
        self.each_names("-n", (12, 16, 20, 24), "[a-z_]+ failed", NETWORK)

    def test_few_processes(self):
        probe = subprocess.run(["python3", "-c", FEW_PROCESSES, "9", "/bin/test", "-x", PROBE], check=False,
                               env=environment())
        if probe.returncode != 0:
            self.skipTest("another user cannot run the programs of this build")
        for settings in (SETTINGS, NETWORK):
            command = [OSHRUN, "-n", "2", "python3", "-c", FEW_PROCESSES, "1", *START]
            self.expect(Job(command, environment(**settings)).wait(), 1, "this PE cannot start: cannot start ",
                        "pthread_create failed: Resource temporarily unavailable; the limit on processes and threads of this "
                        "user is 1: raise it (ulimit -u)")

    def test_few_processes_for_the_launcher(self):
        command = ["python3", "-c", FEW_PROCESSES, "1", OSHRUN, "-n", "2", "/bin/true"]
        result = Job(command).wait()
        if "Permission denied" in result.err:
            self.skipTest("another user cannot run the programs of this build")
        self.expect(result, 1, "oshrun: cannot start PE 0 of 2: fork failed: Resource temporarily unavailable; the limit on "
                               "processes and threads of this user is 1: raise it (ulimit -u)")


if __name__ == "__main__":
    main()
