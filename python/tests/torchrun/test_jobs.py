# SPDX-License-Identifier: BSD-3-Clause
"""Whole jobs of torch.distributed over the backend railshmem: how they begin and how they end."""
import ctypes.util
import multiprocessing
import os
import pathlib
import runpy
import subprocess
import sys
import textwrap
import uuid

import pytest

pytest.importorskip("torch.distributed")
import torch.distributed.fsdp  # noqa: E402, F401  here, so that ranks that are forked have it
from torch.distributed.launcher.api import LaunchConfig, elastic_launch  # noqa: E402

import railshmem.distributed  # noqa: E402, F401

TIMEOUT_S = 120
EXAMPLE = pathlib.Path(__file__).parents[3] / "examples/fsdp2.py"


def written(tmp_path, program):
    file = tmp_path / "program.py"
    file.write_text("import os, sys, torch, torch.distributed as dist, railshmem.distributed\n" + textwrap.dedent(program))
    return file


def torchrun(tmp_path, file, npes=2):
    """The program by torchrun. Each of its processes loads torch, which takes two seconds."""
    return subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(npes), file],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S,
                          env={**os.environ, "SHMEM_WAIT_TIMEOUT": "40", "OMP_NUM_THREADS": "1"})


def _rank(file):
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"the program's exit status is {end.code}") from end


def _agent(file, npes, variables, out):
    for stream in (1, 2):
        os.dup2(out.fileno(), stream)
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", buffering=1, closefd=False) for stream in (1, 2))  # pytest has others
    os.environ.update(variables, SHMEM_WAIT_TIMEOUT="40", OMP_NUM_THREADS="1")
    config = LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=npes, run_id=str(uuid.uuid4()), max_restarts=0,
                          rdzv_backend="c10d", rdzv_endpoint="localhost:0", start_method="fork")
    elastic_launch(config, _rank)(str(file))


def forked(tmp_path, file, npes=2, **variables):
    """The program by torchrun's agent, which forks its ranks from this process: torch is loaded here already. A rank ends
    without the exit handlers of Python."""
    with open(tmp_path / "output", "w+", encoding="utf-8") as out:
        agent = multiprocessing.get_context("fork").Process(target=_agent, args=(file, npes, variables, out))
        agent.start()
        agent.join(TIMEOUT_S)
        in_time = agent.exitcode is not None
        agent.kill()
        agent.join()
        out.seek(0)
        assert in_time, f"no end within {TIMEOUT_S} s:\n{out.read()}"
        return subprocess.CompletedProcess(file, agent.exitcode, out.read())


@pytest.mark.parametrize("start, backend", [(torchrun, "railshmem"), (forked, "cpu:gloo,cuda:railshmem")])
def test_a_job_starts(tmp_path, start, backend):
    done = start(tmp_path, written(tmp_path, f"""
        dist.init_process_group({backend!r})
        mine = torch.full((5,), dist.get_rank() + 1.)
        dist.all_reduce(mine)
        print(f"[{{mine.tolist()}}]", flush=True)
        dist.destroy_process_group()
        """), npes=3)
    assert done.returncode == 0 and done.stdout.count("[[6.0, 6.0, 6.0, 6.0, 6.0]]") == 3, done.stdout
    assert "warn" not in done.stdout.lower(), done.stdout


def test_a_job_ends_well_without_destroying_its_groups(tmp_path):
    done = torchrun(tmp_path, written(tmp_path, """
        dist.init_process_group("railshmem")
        group = dist.new_group([0])
        dist.barrier()
        """))
    assert done.returncode == 0 and "exits without" not in done.stdout, done.stdout


def test_groups_may_be_made_anew_after_all_were_destroyed(tmp_path):
    done = forked(tmp_path, written(tmp_path, """
        for run in range(3):
            dist.init_process_group("railshmem")
            mine = torch.ones(4)
            dist.all_reduce(mine)
            assert (mine == 2).all()
            dist.destroy_process_group()
            assert not railshmem.is_initialized()
        print("[fine]", flush=True)
        """))
    assert done.returncode == 0 and done.stdout.count("[fine]") == 2, done.stdout


def test_an_exception_in_one_rank_ends_the_others(tmp_path):
    done = torchrun(tmp_path, written(tmp_path, """
        dist.init_process_group("railshmem")
        if dist.get_rank() == 1:
            raise KeyError("no such layer")
        dist.all_reduce(torch.ones(4))
        """))
    assert done.returncode != 0 and "no such layer" in done.stdout, done.stdout


def test_a_first_group_of_some_pes_raises(tmp_path):
    done = forked(tmp_path, written(tmp_path, """
        dist.init_process_group("gloo")
        uid = [railshmem.unique_id() if dist.get_rank() == 0 else None]
        dist.broadcast_object_list(uid, 0)
        railshmem.init(uid=uid[0], rank=dist.get_rank(), size=2)
        try:
            dist.new_group([dist.get_rank()], backend="railshmem", use_local_synchronization=True)
        except RuntimeError as error:
            assert "make a group of all PEs first" in str(error), error
            print("[fine]", flush=True)
        railshmem.finalize()
        """))
    assert done.returncode == 0 and done.stdout.count("[fine]") == 2, done.stdout


def test_two_jobs_beside_each_other_keep_apart(tmp_path):
    """Groups of gloo's ranks that have no rank in common are jobs of their own."""
    done = forked(tmp_path, written(tmp_path, """
        dist.init_process_group("gloo")
        dist.barrier()  # gloo fails on ranks that still connect to one that has ended
        pair = dist.get_rank() // 2
        groups = [dist.new_group([0, 1], backend="railshmem"), dist.new_group([2, 3], backend="railshmem")]
        mine = torch.full((3,), dist.get_rank() + 1.)
        dist.all_reduce(mine, group=groups[pair])
        assert (mine == (3, 7)[pair]).all()
        assert railshmem.n_pes() == 2
        print("[fine]", flush=True)
        dist.destroy_process_group()
        """), npes=4)
    assert done.returncode == 0 and done.stdout.count("[fine]") == 4, done.stdout


def test_a_group_without_a_region_raises_on_its_members(tmp_path):
    done = forked(tmp_path, written(tmp_path, """
        railshmem.distributed.configure(regions=2)
        dist.init_process_group("railshmem")
        dist.new_group([0, 1])
        try:
            dist.new_group([0, 2])
            print("[fine]" if dist.get_rank() == 1 else "[no exception]", flush=True)
        except RuntimeError as error:
            assert "no region of staging memory free in common; destroy groups" in str(error), error
            print("[fine]", flush=True)
        mine = torch.ones(3)
        dist.all_reduce(mine)
        assert (mine == 3).all()
        """), npes=3)
    assert done.returncode == 0 and done.stdout.count("[fine]") == 3, done.stdout


@pytest.mark.parametrize("node", [{}, {"SHMEM_NODE_SIZE": "2", "SHMEM_OFI_PROVIDER": "tcp;ofi_rxm"}], ids=["one", "two"])
def test_the_example_learns_on_one_node_and_on_two(tmp_path, node):
    pytest.importorskip("torch", minversion="2.9")
    if node and not ctypes.util.find_library("fabric"):
        pytest.skip("no libfabric, which carries what goes between nodes")
    done = forked(tmp_path, EXAMPLE, npes=4, **node)
    assert done.returncode == 0 and "passed" in done.stdout and "0 leases, 0 requests" in done.stdout, done.stdout
