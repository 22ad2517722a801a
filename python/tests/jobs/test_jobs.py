# SPDX-License-Identifier: BSD-3-Clause
"""Whole jobs: their beginnings, ends and mistakes, as their output and exit status show them."""
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

import railshmem

OSHRUN = str(pathlib.Path(railshmem.__file__).parent / "bin/oshrun")
TIMEOUT_S = 120


def job(tmp_path, program, npes=2):
    file = tmp_path / "program.py"
    file.write_text("import os, sys, railshmem\nimport numpy as np\nimport railshmem.numpy as rn\n" + textwrap.dedent(program))
    return subprocess.run([OSHRUN, "-n", str(npes), sys.executable, file], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, env={**os.environ, "SHMEM_WAIT_TIMEOUT": "40"})


def test_calls_before_init_raise(tmp_path):
    done = job(tmp_path, """
        for call in (railshmem.my_pe, railshmem.n_pes, railshmem.barrier_all, railshmem.quiet, railshmem.fence,
                     railshmem.finalize, railshmem.Team.world, lambda: rn.empty(1), lambda: rn.free(np.zeros(1)),
                     lambda: rn.put(np.zeros(1), np.zeros(1), 0), lambda: rn.all_reduce(np.zeros(1), np.zeros(1))):
            try:
                call()
            except RuntimeError as error:
                assert "before railshmem.init(); call init() on every PE first" in str(error), error
            else:
                sys.exit("no exception")
        assert not railshmem.is_initialized()
        print("fine")
        """)
    assert done.returncode == 0 and done.stdout.count("fine") == 2, done.stdout


def test_calls_after_finalize_raise_and_init_works_again(tmp_path):
    done = job(tmp_path, """
        railshmem.init()
        a, world = rn.zeros(1), railshmem.Team.world()
        rn.free(a)
        railshmem.finalize()
        for call in (railshmem.my_pe, railshmem.finalize, world.my_pe, lambda: rn.free(a)):
            try:
                call()
            except RuntimeError as error:
                assert "after railshmem.finalize()" in str(error), error
            else:
                sys.exit("no exception")
        railshmem.init()
        try:
            world.n_pes()
        except RuntimeError as error:
            assert "is of the time before finalize()" in str(error), error
        railshmem.barrier_all()
        railshmem.finalize()
        print("fine")
        """)
    assert done.returncode == 0 and done.stdout.count("fine") == 2, done.stdout


def test_finalize_names_what_was_not_freed_and_the_collector_frees_nothing(tmp_path):
    done = job(tmp_path, """
        import gc
        railshmem.init()
        a = rn.zeros((2, 3), np.float32)
        if railshmem.my_pe() == 0:  # a collective free here would wait for PE 1 forever
            del a
            gc.collect()
        team = railshmem.Team.world().split_strided(0, 1, railshmem.n_pes())
        del team
        gc.collect()
        railshmem.barrier_all()
        railshmem.finalize()
        """)
    assert done.returncode == 0, done.stdout
    for text in ("2 arrays or teams were not freed", "float32[2, 3] of", "program.py:7", "the team world.split_strided(0, 1, 2)"):
        assert done.stdout.count(text) == 2, (text, done.stdout)


def test_finalize_names_tensors_and_calls_with_them_raise_afterwards(tmp_path):
    pytest.importorskip("torch", reason="torch cannot be imported")
    done = job(tmp_path, """
        import torch, railshmem.torch as rt
        railshmem.init()
        t = rt.zeros(2, 3, dtype=torch.bfloat16)
        railshmem.finalize()
        for call in (lambda: rt.free(t), lambda: rt.all_reduce(t), lambda: rt.put(t, t, 0), lambda: rt.empty(1)):
            try:
                call()
            except RuntimeError as error:
                assert "after railshmem.finalize()" in str(error), error
            else:
                sys.exit("no exception")
        """)
    assert done.returncode == 0 and done.stdout.count("1 arrays or teams were not freed: bfloat16[2, 3] of") == 2, done.stdout


def test_no_warning_where_all_was_freed(tmp_path):
    done = job(tmp_path, "railshmem.init()\nrn.free(rn.zeros(3))\nrailshmem.finalize()\n")
    assert (done.returncode, done.stdout) == (0, "")


def test_an_exception_on_one_pe_ends_the_others(tmp_path):
    done = job(tmp_path, """
        railshmem.init()
        if railshmem.my_pe() == 1:
            raise KeyError("no such layer")
        railshmem.barrier_all()
        """)
    assert done.returncode != 0
    assert "no such layer" in done.stdout and "Traceback" in done.stdout, done.stdout


def test_a_program_without_a_launcher_is_a_job_of_one(tmp_path):
    program = "import railshmem; railshmem.init(); print(railshmem.my_pe(), railshmem.n_pes()); railshmem.finalize()"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=True)
    assert done.stdout.split() == ["0", "1"]


def test_the_variables_of_torchrun_start_a_job(tmp_path, free_port):
    program = "import railshmem; railshmem.init(); print(railshmem.my_pe(), railshmem.n_pes()); railshmem.finalize()"
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    pes = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, **address, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(2)]
    assert [pe.communicate(timeout=TIMEOUT_S)[0].split() for pe in pes] == [["0", "2"], ["1", "2"]]


def test_mpirun_starts_a_job():
    mpirun = shutil.which("mpirun")
    if not mpirun:
        pytest.skip("no mpirun")
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    program = "import railshmem; railshmem.init(); print(railshmem.my_pe(), railshmem.n_pes(), flush=True); railshmem.finalize()"
    done = subprocess.run([mpirun, "-n", "2", sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                          timeout=TIMEOUT_S, env={**os.environ, **as_root})
    assert done.returncode == 0 and sorted(done.stdout.splitlines()) == ["0 2", "1 2"], done.stdout


def test_info_is_printed_without_a_warning():
    done = subprocess.run([sys.executable, "-W", "error", "-m", "railshmem.info"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0 and "version:      RailSHMEM" in done.stdout, done.stdout


@pytest.fixture
def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
