# SPDX-License-Identifier: BSD-3-Clause
"""Jobs without a launcher of ours: by a unique id, from mpi4py, from torch.distributed."""
import multiprocessing
import os
import subprocess
import sys
import textwrap

import pytest

import railshmem

TIMEOUT_S = 120
ASK = "import railshmem as r\nprint(r.my_pe(), r.n_pes())\nr.barrier_all(); r.finalize()\n"


def run(program, environments):
    """Runs one process with each environment; returns what each printed, by lines."""
    pes = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, env={**os.environ, "SHMEM_WAIT_TIMEOUT": "40", **extra}) for extra in environments]
    said = [pe.communicate(timeout=TIMEOUT_S)[0] for pe in pes]
    assert [pe.returncode for pe in pes] == [0] * len(pes), said
    return [text.splitlines() for text in said]


def test_a_unique_id_starts_a_job(tmp_path):
    said = run(f"""
        import ctypes, os, pathlib, time, railshmem
        rank, file = int(os.environ["ME"]), pathlib.Path({str(tmp_path)!r}) / "id"
        if rank == 0:
            file.with_suffix(".new").write_bytes(railshmem.unique_id())
            file.with_suffix(".new").rename(file)
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for turn in range(2):  # and back after finalize()
            railshmem.init(uid=file.read_bytes(), rank=rank, size=3)
            print(railshmem.my_pe(), railshmem.n_pes())
            level = ctypes.c_int()
            ctypes.CDLL(pathlib.Path(railshmem.__file__).parent / "lib/librailshmem.so.0").shmem_query_thread(ctypes.byref(level))
            assert level.value == 3, level  # SHMEM_THREAD_MULTIPLE
            railshmem.finalize()
        try:
            railshmem.init(uid=file.read_bytes(), rank=(rank + 1) % 3, size=3)
            raise AssertionError("another rank in the same job")
        except RuntimeError as error:
            assert "the library could not start" in str(error), error
        """, [{"ME": str(rank)} for rank in range(3)])
    for rank, lines in enumerate(said):
        refusals = [line for line in lines if f"was PE {rank} of 3 in the job of this unique id" in line]
        assert len(refusals) == 1, said  # by standard error, so before or behind what was printed
        assert [line for line in lines if line not in refusals] == [f"{rank} 3"] * 2, said


class Comm:
    """What init() uses of a communicator of mpi4py."""

    def __init__(self, rank, connections):
        self.rank, self.connections = rank, connections

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return 2

    def bcast(self, value, root):
        assert root == 0
        if self.rank == 0:
            self.connections.send(value)
            return value
        return self.connections.recv()


def of_a_communicator(rank, connections, told):
    railshmem.init(mpi_comm=Comm(rank, connections))
    told.put((railshmem.my_pe(), railshmem.n_pes()))
    railshmem.finalize()


def test_a_communicator_starts_a_job():
    spawn = multiprocessing.get_context("spawn")
    told = spawn.Queue()
    pes = [spawn.Process(target=of_a_communicator, args=(rank, end, told)) for rank, end in enumerate(spawn.Pipe())]
    for pe in pes:
        pe.start()
    assert sorted(told.get(timeout=TIMEOUT_S) for _ in pes) == [(0, 2), (1, 2)]
    for pe in pes:
        pe.join(TIMEOUT_S)
        assert pe.exitcode == 0


@pytest.fixture
def torchrun(free_port):
    """The environments of three processes, as torchrun sets them."""
    pytest.importorskip("torch", reason="torch cannot be imported")
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port), "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3"}
    return [{**address, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(3)]


GROUP = """
    import torch.distributed as dist, railshmem, railshmem.torch as rt
    dist.init_process_group("gloo")
"""


def test_a_process_group_starts_a_job_and_groups_become_teams(torchrun):
    said = run(GROUP + """
    railshmem.init(group=dist.group.WORLD)
    t = rt.zeros(1)
    t.fill_(railshmem.my_pe())
    rt.all_reduce(t)
    print(railshmem.my_pe(), railshmem.n_pes(), t.item())
    rt.free(t)
    outer = dist.new_group([0, 2])
    team = railshmem.Team.from_group(outer) if dist.get_rank() != 1 else None
    world = railshmem.Team.from_group(dist.group.WORLD)
    print(team and (team.my_pe(), team.n_pes()), (world.my_pe(), world.n_pes()))
    if team:
        team.destroy()
    world.destroy()
    railshmem.finalize()
    dist.destroy_process_group()
    """, torchrun)
    assert said == [["0 3 3.0", "(0, 2) (0, 3)"], ["1 3 3.0", "None (1, 3)"], ["2 3 3.0", "(1, 2) (2, 3)"]]


def test_a_part_of_the_processes_is_a_job(torchrun):
    """Ranks 2 and 1 become PEs 0 and 1, or whatever numbers the group gives them."""
    said = run(GROUP + """
    group = dist.new_group([1, 2])
    if dist.get_rank() > 0:
        railshmem.init(group=group)
        print(dist.get_rank(group), railshmem.my_pe(), railshmem.n_pes())
        railshmem.finalize()
    else:
        try:
            railshmem.init(group=group)
        except RuntimeError as error:
            print(error)
    dist.barrier()
    dist.destroy_process_group()
    """, torchrun)
    assert said == [["railshmem.init: this process is not in the group; only its members call"], ["0 0 2"], ["1 1 2"]]


@pytest.mark.parametrize("arguments, kind, text", [
    ({"uid": b"x"}, ValueError, "uid, rank and size belong together"),
    ({"rank": 0}, ValueError, "uid, rank and size belong together"),
    ({"uid": b"x", "rank": 0, "size": 1}, ValueError, "uid has 1 bytes"),
    ({"uid": bytes(128), "rank": 1, "size": 1}, ValueError, "rank is 1 and size 1"),
    ({"group": 1, "mpi_comm": 2}, ValueError, "group and mpi_comm are given"),
    ({"group": 1}, RuntimeError, "torch.distributed has no process group"),
])
def test_arguments_that_do_not_fit(arguments, kind, text):
    with pytest.raises(kind, match=text):
        railshmem.init(**arguments)
    assert not railshmem.is_initialized()


def test_a_device_that_is_none():
    torch = pytest.importorskip("torch", reason="torch cannot be imported")
    with pytest.raises(ValueError, match="device is cpu; pass a CUDA device"):
        railshmem.init(device="cpu")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="torch finds no CUDA device"):
            railshmem.init(device=0)


@pytest.fixture
def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
