# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes raise before anything is sent, so that the group is as good as before."""
import pytest
import torch
import torch.distributed as dist

import railshmem.distributed


@pytest.fixture(autouse=True)
def still_works(npes):
    yield
    mine = torch.ones(4)
    dist.all_reduce(mine)
    assert (mine == npes).all()


def test_sizes_that_do_not_fit(device, npes):
    with pytest.raises(ValueError, match=f"for {npes} members it must have {4 * npes}"):
        dist.all_gather_into_tensor(torch.zeros(4 * npes + 1, device=device), torch.zeros(4, device=device))
    with pytest.raises(ValueError, match=f"for {npes} members it must have {4 * npes}"):
        dist.reduce_scatter_tensor(torch.zeros(4, device=device), torch.zeros(3, device=device))
    with pytest.raises(ValueError, match="the tensor of rank 0 has 3 elements, and this member's has 4"):
        dist.all_gather([torch.zeros(3, device=device)] * npes, torch.zeros(4, device=device))
    with pytest.raises(ValueError, match="its split sizes are"):
        dist.all_to_all_single(torch.zeros(npes, device=device), torch.zeros(npes, device=device), [1] * npes, [2] * npes)
    with pytest.raises(ValueError, match="no multiple of the group's"):
        dist.all_to_all_single(torch.zeros(npes + 1, device=device), torch.zeros(npes + 1, device=device))


def test_lists_of_another_length(npes):
    with pytest.raises(ValueError, match=f"a list of {npes + 1} tensors; the group has {npes} members"):
        dist.all_gather([torch.zeros(3)] * (npes + 1), torch.zeros(3))


def test_types_that_do_not_fit(npes):
    with pytest.raises(TypeError, match=r"torch.float64 and torch.float32 tensors; convert one"):
        dist.group.WORLD._allgather_base(torch.zeros(4 * npes, dtype=torch.float64), torch.zeros(4))
    with pytest.raises(TypeError, match="bitwise xor; use integers"):
        dist.all_reduce(torch.zeros(4), op=dist.ReduceOp.BXOR)
    with pytest.raises(TypeError, match="by avg, which makes fractions"):
        dist.all_reduce(torch.zeros(4, dtype=torch.int32), op=dist.ReduceOp.AVG)


def test_tensors_of_other_places():
    with pytest.raises(TypeError, match="on the device meta; accepted: cpu, cuda"):
        dist.all_reduce(torch.zeros(4, device="meta"))
    with pytest.raises(TypeError, match="layout torch.sparse_coo; pass dense tensors"):
        dist.all_reduce(torch.eye(3).to_sparse())


def test_settings_after_the_start():
    with pytest.raises(RuntimeError, match="process groups exist"):
        railshmem.distributed.configure(regions=3)
