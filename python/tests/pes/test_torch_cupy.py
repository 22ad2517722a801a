# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric memory of the GPU as arrays of CuPy: both see one memory, and calls take what CuPy computed."""
import pytest

torch = pytest.importorskip("torch", reason="torch cannot be imported")
if not torch.cuda.is_available():
    pytest.skip("torch finds no CUDA device", allow_module_level=True)
cupy = pytest.importorskip("cupy", reason="CuPy cannot be imported; pip install cupy-cuda13x")

import railshmem
import railshmem.torch as rt

N = 5000


@pytest.fixture
def t(npes):
    """A symmetric tensor with a block of N for each PE."""
    tensor = rt.zeros(npes, N, device="cuda")
    with cupy.cuda.Device(tensor.device.index):
        yield tensor
        cupy.cuda.Device().synchronize()
    rt.free(tensor)


WAYS = {"__cuda_array_interface__": cupy.asarray, "DLPack": cupy.from_dlpack}


@pytest.mark.parametrize("way", WAYS)
def test_cupy_sees_the_memory_of_a_symmetric_tensor(t, me, way):
    array = WAYS[way](t)
    assert array.data.ptr == t.data_ptr() and array.shape == tuple(t.shape) and array.dtype == cupy.float32
    array[...] = me + 1
    cupy.cuda.Device().synchronize()
    assert (t == me + 1).all().item()
    t.fill_(7.0)
    torch.cuda.synchronize()
    assert bool((array == 7.0).all())


@pytest.mark.parametrize("way", WAYS)
def test_an_array_of_cupy_is_put_and_gathered(t, me, npes, way):
    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):  # one order for CuPy, torch and our calls
        array = WAYS[way](t)
        row = torch.as_tensor(array[me], device="cuda")
        assert row.data_ptr() == t[me].data_ptr()
        array[me] = cupy.arange(N, dtype=cupy.float32) + 1000 * me
        rt.all_gather(torch.as_tensor(array, device="cuda"), row)
        for pe in range(npes):
            assert bool((array[pe] == cupy.arange(N, dtype=cupy.float32) + 1000 * pe).all())
        rt.barrier(device="cuda")  # nobody puts into what another one still reads
        mine = cupy.full(N, 50 + me, dtype=cupy.float32)  # ordinary memory of CuPy's
        rt.put(t[me], torch.as_tensor(mine, device="cuda"), (me + 1) % npes)
        rt.barrier(device="cuda")
        torch.cuda.synchronize()  # a put of ordinary memory: see "Rules" in docs/python.md
        left = (me - 1) % npes
        assert bool((array[left] == 50 + left).all())
    torch.cuda.synchronize()
    railshmem.barrier_all()
