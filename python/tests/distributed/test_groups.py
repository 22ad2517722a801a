# SPDX-License-Identifier: BSD-3-Clause
"""Groups of some ranks: made by all, or by their members only."""
import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh


def test_a_group_of_some(device, me, npes):
    ranks = [0, npes - 1]
    group = dist.new_group(ranks)
    if me in ranks:
        mine = torch.full((5,), me + 1., device=device)
        dist.all_reduce(mine, group=group)
        assert (mine == npes + 1).all()
        dist.broadcast(mine.fill_(me), npes - 1, group=group)
        assert (mine == npes - 1).all()
    dist.barrier()
    dist.destroy_process_group(group)


def test_a_group_that_only_its_members_make(me, npes):
    pair = [me // 2 * 2, me // 2 * 2 + 1]
    group = dist.new_group(pair, use_local_synchronization=True)
    mine = torch.ones(3)
    dist.all_reduce(mine, group=group)
    assert (mine == 2).all()
    dist.destroy_process_group(group)


def test_groups_that_overlap_keep_apart(me, npes):
    groups = [dist.new_group([rank, (rank + 1) % npes]) for rank in range(npes)] if npes > 2 else [dist.new_group([0, 1])]
    works = []
    for number, group in enumerate(groups):
        if dist.get_rank(group) >= 0:
            mine = torch.full((100_000,), float(number))
            works.append((number, mine, dist.all_reduce(mine, group=group, async_op=True)))
    for number, mine, work in works:
        work.wait()
        assert (mine == 2 * number).all()
    dist.barrier()
    for group in groups:
        dist.destroy_process_group(group)


def test_regions_come_back(me):
    for _ in range(40):
        group = dist.new_group()
        mine = torch.ones(3)
        dist.all_reduce(mine, group=group)
        dist.destroy_process_group(group)


def test_groups_beyond_the_regions_share(me, npes):
    """FSDP2 makes groups for each module that it reshards to fewer ranks."""
    groups = [dist.new_group() for _ in range(40)]
    for tag, group in enumerate(groups):
        mine = torch.full((3,), float(tag))
        dist.all_reduce(mine, group=group)
        assert (mine == tag * npes).all()
    theirs = [torch.zeros(3) for _ in groups]
    requests = [dist.isend(torch.full((3,), float(number)), (me + 1) % npes, group=group)
                for number, group in enumerate(groups)]
    for number, group in reversed(list(enumerate(groups))):
        dist.recv(theirs[number], (me - 1) % npes, group=group)
        assert (theirs[number] == number).all()
    for request in requests:
        request.wait()
    dist.destroy_process_group(groups[-1])
    dist.all_reduce(mine, group=groups[-2])
    for group in groups[:-1]:
        dist.destroy_process_group(group)


def test_a_destroyed_group_raises():
    group = dist.new_group()
    dist.destroy_process_group(group)
    with pytest.raises(RuntimeError, match="was destroyed"):
        group.allreduce([torch.ones(1)])


def test_a_mesh_of_two_dimensions(device, me, npes):
    mesh = init_device_mesh(device, (npes // 2, 2), mesh_dim_names=("replica", "shard"))
    for name, expected in (("shard", me // 2 * 4 + 1), ("replica", sum(range(me % 2, npes, 2)))):
        mine = torch.full((3,), float(me), device=device)
        dist.all_reduce(mine, group=mesh.get_group(name))
        assert (mine == expected).all()
    for name in ("shard", "replica"):
        if mesh.get_group(name) is not dist.group.WORLD:
            dist.destroy_process_group(mesh.get_group(name))
