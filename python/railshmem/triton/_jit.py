# SPDX-License-Identifier: BSD-3-Clause
"""rt.jit: Triton's jit that links the device library and tells the library of each module."""
import functools

import triton
from triton.runtime.jit import JITFunction

from railshmem import _core, _device_library

NAME = "railshmem.triton"


def extern_libs() -> dict[str, str]:
    """Returns what rt.jit adds to Triton's option extern_libs: the device library's path under its name. For triton.compile.

    Raises FileNotFoundError where this installation has no librailshmem_device.bc.
    """
    return {"railshmem_device": _device_library.need("bc", NAME)}


def jit(fn=None, **options):
    """triton.jit for kernels that call the functions of railshmem.triton. Takes triton.jit's options.

    The library is told of every module at the kernel's first launch on a GPU, whether Triton compiled it or found it in a cache. A launch
    raises RuntimeError while the library does not run, or where the GPU is not that of this PE's symmetric memory.
    """
    if fn is None:
        return functools.partial(jit, **options)
    if triton.knobs.runtime.interpret:
        raise RuntimeError(f"{NAME}.jit: Triton interprets kernels (TRITON_INTERPRET=1), and an interpreted kernel cannot call the library; "
                           "unset TRITON_INTERPRET")
    return Kernel(fn, **options)


class Kernel(JITFunction):
    """A kernel that calls the library."""

    def create_binder(self):
        binder = super().create_binder()  # sets self.compile, for one device
        self.compile = functools.partial(_compile, self.compile)
        return binder

    def run(self, *args, grid, warmup, **kwargs):
        if not warmup:
            _device_library.require_running(f"{NAME}: kernel {self.__name__}")
        return super().run(*args, grid=grid, warmup=warmup, **kwargs)


def _compile(compile_, src, target=None, options=None, **kwargs):
    if target is not None and target.backend != "cuda":
        raise RuntimeError(f"{NAME}: kernel {src.name} is for {target.backend}; the device library has code for NVIDIA GPUs only")
    options = dict(options or {})
    options["extern_libs"] = dict(options.get("extern_libs") or ()) | extern_libs()
    kernel = compile_(src, target=target, options=options, **kwargs)
    if _device_library.VIEW in kernel.asm["ptx"]:  # it really calls the library
        kernel._init_handles = functools.partial(_load, kernel, kernel._init_handles)
    return kernel


def _load(kernel, load):
    """Loads the module as Triton does at the first launch, and tells the library of it. Triton never unloads one."""
    if kernel.module is not None:
        return
    load()
    try:
        _core.device_module_init(kernel.module)
    except RuntimeError:
        kernel.module = kernel.function = kernel._run = None  # not loaded: the next launch tries again
        raise
