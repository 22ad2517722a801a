# SPDX-License-Identifier: BSD-3-Clause
import gc
import inspect
import threading

import pytest
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule
from torch.distributed.fsdp._fully_shard import _fsdp_api

import railshmem.fsdp
from railshmem.torch import _types as rt_types
from training import Model

ALIGNMENT = 512  # bytes; leases begin at multiples of it


@pytest.fixture
def pool(device):
    made = railshmem.fsdp.Pool(16 * ALIGNMENT, device)
    yield made
    made.close()


def test_a_lease_lasts_as_long_as_any_view(pool, device):
    place = torch.device(device)
    tensor = pool.lease((8, 16), torch.float32, place)
    assert (tensor.shape, tensor.dtype, tensor.device.type) == ((8, 16), torch.float32, device)
    assert pool.offset_of(tensor) == 0 and pool.leases == 1
    view = tensor.view(torch.uint8)[5:]
    del tensor
    assert pool.leases == 1
    other = pool.lease((4,), torch.bfloat16, place)
    assert pool.offset_of(other) == ALIGNMENT
    del view
    gc.collect()
    assert pool.leases == 1
    assert pool.offset_of(pool.lease((4,), torch.int64, place)) == 0


def test_parts_are_taken_first_fit_and_grow_together_again(pool, device):
    def lease(nbytes):
        return pool.lease((nbytes,), torch.uint8, torch.device(device))

    first, second, third = (lease(nbytes) for nbytes in (1, ALIGNMENT, ALIGNMENT + 1))
    assert [pool.offset_of(one) for one in (first, second, third)] == [0, ALIGNMENT, 2 * ALIGNMENT]
    del second
    second = lease(1)
    assert pool.offset_of(second) == ALIGNMENT
    del first, third, second
    whole = lease(16 * ALIGNMENT)
    assert pool.offset_of(whole) == 0 and (pool.leases, pool.misses) == (1, 0)


@pytest.mark.parametrize("dtype", sorted(rt_types.ELEMENTS, key=str), ids=str)
def test_a_lease_is_a_tensor_of_its_type(pool, device, dtype):
    tensor = pool.lease((2, 3), dtype, torch.device(device))
    assert (tensor.shape, tensor.dtype, tensor.stride()) == ((2, 3), dtype, (3, 1))
    assert pool.offset_of(tensor) == 0 and tensor.is_contiguous()


def test_a_lease_ends_in_any_thread_and_after_its_pool(device):
    pool = railshmem.fsdp.Pool(16 * ALIGNMENT, device)
    tensors = [pool.lease((1,), torch.float32, torch.device(device)) for _ in range(2)]
    thread = threading.Thread(target=tensors.pop)
    thread.start()
    thread.join()
    assert pool.leases == 1
    pool.close()
    del pool
    tensors.clear()


def test_what_does_not_fit_gets_ordinary_memory_and_one_warning(pool, device):
    with pytest.warns(RuntimeWarning, match="make the pool larger"):
        tensor = pool.lease((1 << 20,), torch.uint8, torch.device(device))
    assert pool.offset_of(tensor) is None and (pool.leases, pool.misses) == (0, 1)


def parameters_of(function):
    return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("ours, theirs", [(railshmem.fsdp.AllGather, _fsdp_api.AllGather),
                                          (railshmem.fsdp.ReduceScatter, _fsdp_api.ReduceScatter)])
def test_signatures_are_those_of_this_torch(ours, theirs):
    """torch calls them "for internal use": a change must be noticed."""
    assert issubclass(ours, theirs)
    assert ours.__abstractmethods__ == frozenset()
    for name in ("allocate", "__call__"):
        assert parameters_of(getattr(ours, name)) == parameters_of(getattr(theirs, name))
    for name in ("set_custom_all_gather", "set_custom_reduce_scatter"):
        assert [name for name, _, _ in parameters_of(getattr(FSDPModule, name))] == ["self", "comm"]


def test_a_model_without_fsdp_modules_raises():
    with pytest.raises(TypeError, match=r"no module of the model went through fully_shard\(\)"):
        railshmem.fsdp.install(Model(), dist.group.WORLD)
