# SPDX-License-Identifier: BSD-3-Clause
import pytest

torch = pytest.importorskip("torch", reason="torch cannot be imported")

import railshmem
import railshmem.torch as rt
from railshmem.torch._types import ELEMENTS


@pytest.mark.parametrize("dtype", ELEMENTS, ids=str)
def test_tensors_have_shape_type_and_zeroes(device, dtype):
    t = rt.zeros(3, 5, dtype=dtype, device=device)
    assert (t.shape, t.dtype, t.device.type, t.is_contiguous()) == ((3, 5), dtype, device, True)
    assert not t.view(torch.uint8).any()
    rt.free(t)


def test_sizes_are_given_as_torch_takes_them(device):
    for size in ((7,), ((2, 3),), ([4],), (torch.Size([1, 2]),), ()):
        t = rt.empty(*size, device=device)
        assert (t.shape, t.dtype) == (torch.empty(*size or [()]).shape, torch.get_default_dtype())
        rt.free(t)


def test_the_default_device_is_torchs():
    t = rt.empty(2)
    assert t.device == torch.get_default_device()
    rt.free(t)
    with torch.device("meta"), pytest.raises(ValueError, match="device is meta; accepted: cpu, cuda"):
        rt.empty(2)


def test_a_tensor_without_elements_can_be_freed(device):
    t = rt.empty(0, 4, device=device)
    assert t.shape == (0, 4)
    rt.free(t)


def test_torch_computes_in_place(device, me):
    t = rt.zeros(4, 4, device=device)
    t += me + 1
    t[1] = t[0] * 2
    assert t.sum().item() == 20 * (me + 1)
    rt.free(t)


def test_a_peers_memory_is_seen(device, me, npes):
    t = rt.zeros(2, 3, dtype=torch.int64, device=device)
    t[1, 2] = 10 + me
    in_step(device)
    mapped = railshmem.Team.shared()
    for pe in range(npes):
        if railshmem.Team.world().translate(pe, mapped) is None:
            with pytest.raises(RuntimeError, match=r"is not mapped into PE \d+, .*; use put\(\) and get\(\)"):
                rt.peer(t, pe)
            continue
        there = rt.peer(t, pe)
        assert (there.shape, there.dtype, there.device) == (t.shape, t.dtype, t.device)
        assert there[1, 2].item() == 10 + pe
        assert rt.peer(t[1:], pe)[0, 2].item() == 10 + pe
    rt.free(t)


def test_free_raises_for_what_it_cannot_free(device):
    t = rt.zeros(4, device=device)
    with pytest.raises(ValueError, match=r"begins inside of float32\[4\] of .*test_torch_tensors.py:\d+"):
        rt.free(t[1:])
    with pytest.raises(ValueError, match=r"not symmetric; make it with railshmem.torch.empty\(\)"):
        rt.free(torch.zeros(4, device=device))
    rt.free(t)
    with pytest.raises(ValueError, match="which was freed"):
        rt.free(t)


def test_a_full_heap_raises_on_all_pes():
    with pytest.raises(MemoryError, match="SHMEM_SYMMETRIC_SIZE"):
        rt.empty(1 << 50, dtype=torch.uint8)


def test_what_has_no_meaning_raises(npes):
    with pytest.raises(ValueError, match="must not be negative"):
        rt.empty(-1)
    with pytest.raises(ValueError, match="device is meta; accepted: cpu, cuda"):
        rt.empty(1, device="meta")
    with pytest.raises(TypeError, match="torch.qint8, which this package does not move"):
        rt.empty(1, dtype=torch.qint8)
    t = rt.zeros(1)
    with pytest.raises(ValueError, match=rf"pe is {npes}, and this job has the PEs 0 to {npes - 1}"):
        rt.peer(t, npes)
    rt.free(t)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_cuda_tensor_without_a_gpu_raises():
    with pytest.raises(RuntimeError, match="torch finds no CUDA device; pass device='cpu'"):
        rt.empty(1, device="cuda")


def in_step(device):
    if device == "cuda":
        torch.cuda.synchronize()
    railshmem.barrier_all()
