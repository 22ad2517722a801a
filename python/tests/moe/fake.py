# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of the CPU that say of themselves that they are on a GPU, for the fake driver."""
import contextlib
import ctypes

import torch

import railshmem
import railshmem.torch
from railshmem import _core
from railshmem.deep_ep import _nodes, _streams, _throughput
from railshmem.moe import _memory
from railshmem.torch._types import ELEMENTS


class Tensor(torch.Tensor):
    is_cpu, is_cuda = False, True
    device = torch.device("cuda", 0)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        """What torch does with the tensor comes behind what the stream was given."""
        if function.__name__ != "__get__":
            synchronize()
        return super().__torch_function__(function, types, args, kwargs)


cuda = ctypes.CDLL("libcuda.so.1")


def start():
    replace()
    railshmem.init()


def take_gpu(function):
    return torch.device("cuda", _core.take_gpu(function, 0))


def replace():
    """Replaces what the package needs torch.cuda for."""
    context = ctypes.c_void_p()
    cuda.cuInit(0)
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
    _core.know_torch(torch.Tensor, ELEMENTS, lambda device: 0)
    _memory.take_gpu = take_gpu
    _memory.symmetric = symmetric
    _memory.settle = lambda device: synchronize()
    _memory.is_current = lambda device: True
    _memory.empty, _memory.counts = empty, counts
    _streams.new = lambda device: None
    _streams.use = lambda stream: contextlib.nullcontext()
    _throughput.all_to_all = _nodes.all_to_all = through_gpu(railshmem.torch.all_to_all)
    _streams.share, _streams.finish = (lambda tensors: None), synchronize
    _streams.record, _streams.wait, _streams.is_captured = (lambda: None), (lambda event: None), (lambda: False)


def symmetric(function, nbytes, name, device):
    address = _core.allocate_on_device(function, nbytes, name, align=256)
    return torch.frombuffer((ctypes.c_char * nbytes).from_address(address), dtype=torch.uint8).as_subclass(Tensor)


def on_gpu(tensor):
    """A copy in memory of the fake driver: kernels of collectives refuse that of the host."""
    address = ctypes.c_void_p()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(tensor.nbytes, 16))) == 0
    bytes = torch.frombuffer((ctypes.c_char * max(tensor.nbytes, 16)).from_address(address.value), dtype=torch.uint8)[:tensor.nbytes]
    return bytes.view(tensor.dtype).view(tensor.shape).copy_(tensor.as_subclass(torch.Tensor)).as_subclass(Tensor)


def through_gpu(collective):
    def call(output, input, team):
        outside, inside = on_gpu(output), on_gpu(input)
        collective(outside, inside, team=team)
        output.copy_(outside)
        for tensor in (outside, inside):
            assert cuda.cuMemFree_v2(ctypes.c_void_p(tensor.data_ptr())) == 0
    return call


#: What streams may still use. Torch's allocator for GPUs hands memory out again in stream order; that of the CPU at once.
in_use = []


def synchronize():
    assert cuda.cuCtxSynchronize() == 0


def settle():
    synchronize()
    in_use.clear()


def empty(shape, dtype, device):
    in_use.append(torch.zeros(shape, dtype=torch.uint8 if dtype.itemsize == 1 else dtype).view(dtype).as_subclass(Tensor))
    return in_use[-1]


def counts(number):
    return torch.zeros(number, dtype=torch.int64)


def put(tensor):
    in_use.append(tensor.clone().as_subclass(Tensor))
    return in_use[-1]


def get(tensor):
    synchronize()
    return tensor.as_subclass(torch.Tensor).clone()
