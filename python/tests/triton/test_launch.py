# SPDX-License-Identifier: BSD-3-Clause
"""What happens at a launch, with a driver that launches nothing: which modules the library is told of, and when."""
import types

import kernels
import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

import railshmem.triton as rt
from railshmem import _core


class Pointer:
    """A tensor on a GPU, as Triton sees one."""

    dtype = "int64"

    def data_ptr(self):
        return 4096


class Driver:
    """The part of Triton's driver that a launch uses. Modules are numbers; `device` is the current one."""

    def __init__(self):
        self.device, self.modules, self.launches = 0, [], []
        self.utils = types.SimpleNamespace(get_device_properties=lambda device: {"max_shared_mem": 1 << 17}, load_binary=self.load)

    def load(self, name, *_):
        self.modules.append(name)
        return len(self.modules), 1000, 16, 0, 1024

    def launcher_cls(self, *_):
        return lambda *_: self.launches.append((self.device, len(self.told)))

    def get_current_device(self):
        return self.device

    def get_current_stream(self, device):
        return 0

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def is_active(self):
        return True


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    fake = Driver()
    fake.told = []
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))
    monkeypatch.setattr(_core, "device_module_init", lambda module: fake.told.append(module))
    monkeypatch.setattr(_core, "is_initialized", lambda: True)
    driver.set_active(fake)
    return fake


def again(kernel):
    """The kernel as another process has it: nothing compiled in memory, but on disk."""
    return type(kernel)(kernel.fn)


def test_the_library_is_told_of_a_module_before_its_first_launch_and_once(gpu):
    kernel = again(kernels.who)
    kernel[(1, )](Pointer())
    kernel[(1, )](Pointer())
    assert gpu.told == [1]
    assert gpu.launches == [(0, 1), (0, 1)]


def test_a_kernel_from_the_cache_on_disk_is_told_too(gpu, monkeypatch):
    again(kernels.who)[(1, )](Pointer())
    monkeypatch.setattr("triton.compiler.compiler.parse", None)  # a compilation would need it
    monkeypatch.setattr("triton.backends.nvidia.compiler.CUDABackend.make_ptx", None)
    again(kernels.who)[(1, )](Pointer())
    assert gpu.told == [1, 2]


def test_each_compilation_and_each_gpu_has_a_module_of_its_own(gpu):
    kernel = again(kernels.who)
    kernel[(1, )](Pointer())
    kernel[(1, )](Pointer(), num_warps=8)
    gpu.device = 1
    kernel[(1, )](Pointer())
    assert gpu.told == [1, 2, 3]
    assert [device for device, _ in gpu.launches] == [0, 0, 1]


def test_plain_kernels_and_kernels_without_calls_are_none_of_the_librarys(gpu, monkeypatch):
    monkeypatch.setattr(_core, "is_initialized", lambda: False)
    again(kernels.plain)[(1, )](Pointer())
    monkeypatch.setattr(_core, "is_initialized", lambda: True)
    again(kernels.no_call)[(1, )](Pointer())
    assert len(gpu.launches) == 2 and gpu.told == []


def test_a_launch_before_init_raises(gpu, monkeypatch):
    monkeypatch.setattr(_core, "is_initialized", lambda: False)
    with pytest.raises(RuntimeError, match="kernel who is launched while the library does not run; call railshmem.init"):
        again(kernels.who)[(1, )](Pointer())
    assert gpu.launches == []


def test_a_module_that_the_library_refuses_is_not_launched(gpu, monkeypatch):
    def refuse(module):
        raise RuntimeError("refused")

    monkeypatch.setattr(_core, "device_module_init", refuse)
    kernel = again(kernels.who)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="refused"):
            kernel[(1, )](Pointer())
    assert gpu.launches == []


def test_autotuned_kernels_are_told(gpu):
    tuned = triton.autotune(configs=[triton.Config({}, num_warps=2)], key=[])(again(kernels.who))
    tuned[(1, )](Pointer())
    assert gpu.told == [1]


def test_a_gpu_of_another_make_is_refused(gpu):
    pytest.importorskip("torch", reason="Triton asks torch about arguments of AMD kernels")
    gpu.get_current_target = lambda: GPUTarget("hip", "gfx942", 64)
    with pytest.raises(RuntimeError, match="for hip; the device library has code for NVIDIA GPUs only"):
        again(kernels.who)[(1, )](Pointer())


def test_interpreted_kernels_are_refused(monkeypatch):
    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    with pytest.raises(RuntimeError, match="TRITON_INTERPRET"):
        rt.jit(kernels.who.fn)
