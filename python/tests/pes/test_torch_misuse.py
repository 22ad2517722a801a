# SPDX-License-Identifier: BSD-3-Clause
"""Every mistake with tensors is an exception that says what to do, on the PE that made it, before anything is sent."""
import pytest

torch = pytest.importorskip("torch", reason="torch cannot be imported")

import railshmem.torch as rt


@pytest.fixture
def t(tensors):
    return tensors(8)


def here(device, *size, dtype=None):
    return torch.zeros(*(size or (8,)), dtype=dtype, device=device)


def test_what_is_not_symmetric(t, device):
    ordinary = here(device)
    for call in (lambda: rt.put(ordinary, t, 0), lambda: rt.get(t, ordinary, 0), lambda: rt.peer(ordinary, 0),
                 lambda: rt.signal_op(here(device, 1, dtype=torch.int64), 1, 0)):
        with pytest.raises(ValueError, match=r"not symmetric; make it with railshmem.torch.empty\(\)"):
            call()


def test_collectives_of_cpu_tensors_want_symmetric_ones(npes):
    symmetric, ordinary = rt.zeros(8), torch.zeros(8)
    for call in (lambda: rt.all_reduce(ordinary), lambda: rt.all_reduce(symmetric, ordinary), lambda: rt.broadcast(ordinary, 0),
                 lambda: rt.all_reduce(ordinary.bfloat16()), lambda: rt.all_gather([ordinary] * npes, ordinary)):
        with pytest.raises(ValueError, match=r"(output|input) is not symmetric; make it with railshmem.torch.empty\(\)"):
            call()
    rt.free(symmetric)


def test_what_is_not_contiguous(t, device):
    for call in (lambda: rt.put(t[::2], here(device, 4), 0), lambda: rt.all_reduce(t[::2])):
        with pytest.raises(ValueError, match=r"is not contiguous; pass a contiguous part, or a copy by contiguous\(\)"):
            call()


def test_unequal_sizes_and_types(t, device, npes):
    with pytest.raises(ValueError, match="dest has 8 elements, and source has 7"):
        rt.put(t, here(device, 7), 0)
    with pytest.raises(TypeError, match=r"float32, and source of float64; convert one of them with to\(\)"):
        rt.put(t, here(device, dtype=torch.float64), 0)
    with pytest.raises(ValueError, match="it must have"):
        rt.all_gather(t, t[:3])
    if npes > 1 or device == "cpu":  # an all-to-all of CUDA tensors may be in place
        with pytest.raises(ValueError, match="which is no multiple of the team's" if npes > 1 else "share memory"):
            rt.all_to_all(t[:npes + 1], t[:npes + 1])


def test_lists_of_another_length(t, npes):
    with pytest.raises(ValueError, match=f"output is a list of {npes + 1} tensors, and the team has {npes} PEs"):
        rt.all_gather([t[:1]] * (npes + 1), t[:1])
    with pytest.raises(TypeError, match="input is list; it must be a tensor"):
        rt.reduce_scatter(t, [])


def test_split_sizes_that_do_not_fit(t, npes):
    with pytest.raises(ValueError, match=r"input_split_sizes are \[.*\]; for a team of"):
        rt.all_to_all(t, t, input_split_sizes=[9] * npes, output_split_sizes=[8 // npes] * npes)


def test_operations(t, npes):
    with pytest.raises(ValueError, match="op is 'mean'; accepted: sum, prod"):
        rt.all_reduce(t, op="mean")
    with pytest.raises(TypeError, match="float32, which the operation xor does not take"):
        rt.all_reduce(t, op="xor")
    with pytest.raises(ValueError, match="op is 'premul' and factor is None"):
        rt.all_reduce(t, op="premul")
    with pytest.raises(ValueError, match="op is 'sum' and factor is 2.0"):
        rt.all_reduce(t, factor=2.0)
    with pytest.raises(TypeError, match="int32, which the operation avg does not take"):
        rt.all_reduce(t.view(torch.int32), op="avg")
    with pytest.raises(TypeError, match="bool, which the operation sum does not take"):
        rt.all_reduce(t.view(torch.bool))


def test_a_root_and_a_pe_that_there_are_not(t, device, npes):
    with pytest.raises(ValueError, match=f"root is {npes}, and the team has the members 0 to {npes - 1}"):
        rt.broadcast(t, npes)
    with pytest.raises(ValueError, match=f"pe is {npes}, and this job has the PEs 0 to {npes - 1}"):
        rt.put(t, here(device), npes)


def test_what_is_no_tensor(t):
    for call in (lambda: rt.put(t, [1.0] * 8, 0), lambda: rt.put(t, None, 0), lambda: rt.free(None), lambda: rt.peer(3, 0)):
        with pytest.raises(TypeError, match="it must be a tensor"):
            call()
    with pytest.raises(TypeError, match="input is NoneType; it must be a tensor"):
        rt.all_gather(t, None)
    with pytest.raises(TypeError, match="on the device meta"):
        rt.put(t, torch.zeros(8, device="meta"), 0)
    with pytest.raises(TypeError, match="qint8, which this package does not move"):
        rt.put(t, torch.quantize_per_tensor(torch.zeros(8), 1.0, 0, torch.qint8), 0)


def test_signals_that_are_none(t, tensors):
    words = tensors(4, dtype=torch.int64)
    with pytest.raises(TypeError, match="a signal is a uint64 or an int64"):
        rt.wait_signal(t[:1], "==", 0)
    with pytest.raises(ValueError, match="has 4 elements; pass one element"):
        rt.signal_op(words, 1, 0)
    with pytest.raises(OverflowError, match="does not fit into uint64"):
        rt.signal_op(words[:1], -1, 0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: devices cannot be mixed")
def test_devices_are_not_mixed():
    cpu, cuda = rt.zeros(8, device="cpu"), rt.zeros(8, device="cuda")
    for call in (lambda: rt.put(cpu, cuda, 0), lambda: rt.put(cuda, cpu, 0)):
        with pytest.raises(TypeError, match=r"move one of them with to\(\)"):
            call()
    rt.free(cpu)
    rt.free(cuda)


def test_a_stream_for_cpu_tensors():
    class Stream:
        cuda_stream = 0
    cpu = rt.zeros(8, device="cpu")
    for call in (lambda: rt.put(cpu, cpu, 0, stream=Stream()), lambda: rt.all_reduce(cpu, stream=Stream())):
        with pytest.raises(TypeError, match="where no stream orders anything"):
            call()
    rt.free(cpu)
