# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the backend against the torch that is installed, and hands it memory."""
from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import pathlib
import platform
import socket
import sys
import tempfile
import threading
import time
from types import ModuleType

import torch
import torch.distributed as dist

from railshmem import _core
from railshmem._names import name_of
from railshmem._together import together
from railshmem.torch import _gpu

_FUNCTION = "railshmem.symm_mem.enable"
_NAME = "RAILSHMEM"
#: The oldest torch that the backend compiles against.
_OLDEST = (2, 9)
_SOURCE = pathlib.Path(__file__).with_name("_backend.cpp")
_HEADERS = [pathlib.Path(__file__).with_name(name) for name in ("_cuda.h", "_pads.h", "_words.h")]
#: Seconds that the library waits where SHMEM_WAIT_TIMEOUT is not set.
_LIMIT = 3600.0
#: Seconds between two meetings of the PEs while a compiler runs.
_MEET_S = 1.0
_enabled: set[str] = set()


def enable(nbytes: int, device: torch.device | str | int = "cpu") -> None:
    """Makes tensors of torch.distributed._symmetric_memory lie on the symmetric heap, and selects the backend RAILSHMEM.

    For CPU tensors, or with device="cuda" for those of a GPU, whose memory is the heap's then; one call for each kind, before
    the first such tensor. Collective over all PEs, with equal nbytes: so much of the heap is set aside, and empty() hands it out
    locally. Each tensor also takes a signal pad (get_signal_pad_size()). Tensors of the ranks may lie at different
    places. Freeing them is local; the memory is given back by finalize(), behind which no such tensor may be touched.

    The backend is a C++ file that the first call compiles, in some 20 seconds, and keeps in torch's folder of extensions
    (TORCH_EXTENSIONS_DIR). It needs no CUDA toolkit. Raises RuntimeError where it cannot be compiled (it needs a C++20 compiler, ninja and Python's
    headers), where torch is older than 2.9 or has no symmetric memory, where the heap is not in the memory of that GPU, or at a second call; MemoryError on every PE where the heap has no room;
    ValueError for nbytes.
    """
    if nbytes < 1:
        raise ValueError(f"{_FUNCTION}: nbytes is {nbytes}; it must be a number of bytes, 1 or more")
    device = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"{_FUNCTION}: device is {device}; pass 'cpu' or 'cuda'")
    if device.type in _enabled:
        raise RuntimeError(f"{_FUNCTION}: the backend {_NAME} is in use already for device {device.type}; call enable() once for it")
    extension = _compiled()
    name = name_of(f"symm_mem.enable({nbytes})", depth=1)
    if device.type == "cuda":
        device = _gpu.take(device, _FUNCTION)
        with torch.cuda.device(device):
            number, begin = _core.make_pool(_FUNCTION, nbytes, name)
    else:
        number, begin = _core.make_pool(_FUNCTION, nbytes, name, on_host=True)
    functions = ctypes.CDLL(_core.__file__)  # finds functions of the library, too: the module links it

    def address(name: str) -> int:
        return ctypes.cast(getattr(functions, name), ctypes.c_void_p).value or 0

    extension.enable(address(f"railshmem_pool_take_{number}"), address("railshmem_pool_give_back"), address("shmem_ptr"),
                     address("shmem_query_initialized"), begin, _core.my_pe(), _limit(),
                     -1 if device.index is None or device.type == "cpu" else device.index, _meeting)
    torch._C._distributed_c10d._SymmetricMemory.set_backend(_NAME)
    _enabled.add(device.type)


def _limit() -> float:
    """The library refuses a malformed value at its start."""
    return float(os.environ.get("SHMEM_WAIT_TIMEOUT") or _LIMIT)


def _compiled() -> ModuleType:
    """The extension. The first PE of each host compiles it, if nobody has, while the others wait."""
    old = tuple(int(number) for number in torch.__version__.split(".")[:2]) < _OLDEST
    if old or not hasattr(torch._C, "_distributed_c10d") or not hasattr(torch._C._distributed_c10d, "_SymmetricMemory"):
        raise RuntimeError(f"{_FUNCTION}: torch {torch.__version__} has no symmetric memory that backends can join; install torch "
                           f"{_OLDEST[0]}.{_OLDEST[1]} or newer")
    try:
        from torch.utils import cpp_extension
    except ImportError as error:
        raise RuntimeError(f"{_FUNCTION}: torch cannot compile extensions: {error}; pip install setuptools") from error
    built_for = f"{torch.__version__} {sys.version} {platform.machine()} ".encode()
    built_for += b"".join(file.read_bytes() for file in [_SOURCE, *_HEADERS])
    name = f"railshmem_symm_mem_{hashlib.sha256(built_for).hexdigest()[:16]}"
    library = pathlib.Path(os.environ.get("TORCH_EXTENSIONS_DIR") or cpp_extension.get_default_build_root()) / f"{name}.so"
    host = int.from_bytes(hashlib.sha256(socket.gethostname().encode()).digest()[:8], "little")
    hosts = _core.exchange_words(_FUNCTION, [host, 0] * _core.n_pes(), None)[::2]  # two words for each PE
    compiler = _Compiler(name, library) if hosts.index(host) == _core.my_pe() and not library.exists() else None
    failure = _wait_for_compilers(compiler)

    def load() -> ModuleType:
        if failure is not None:
            raise RuntimeError(
                f"{_FUNCTION}: the backend cannot be compiled against torch {torch.__version__}; it needs a C++20 compiler, ninja "
                f"(pip install ninja) and Python's headers (python3-dev). The compiler said: {failure}") from failure
        if not library.exists():
            raise RuntimeError(f"{_FUNCTION}: PE {hosts.index(host)} could not compile the backend; its own message says why")
        spec = importlib.util.spec_from_file_location(name, library)
        assert spec is not None and spec.loader is not None
        extension = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(extension)
        return extension

    return together(_FUNCTION, load)


class _Compiler(threading.Thread):
    """Compiles the library beside the thread that waits with the other PEs."""

    def __init__(self, name: str, library: pathlib.Path):
        super().__init__(name="railshmem.symm_mem", daemon=True)
        self._task = (name, library)
        self.failure: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            _compile(*self._task)
        except BaseException as error:  # the thread that waits raises it
            self.failure = error


def _wait_for_compilers(compiler: _Compiler | None) -> BaseException | None:
    """Returns when every PE's compiler has ended, with the failure of this PE's one. The PEs meet every second, because a
    compiler on a busy machine may take longer than SHMEM_WAIT_TIMEOUT lets one call wait."""
    while True:
        ended = compiler is None or not compiler.is_alive()
        if all(_core.exchange_words(_FUNCTION, [int(ended), 0] * _core.n_pes(), None)[::2]):
            return compiler.failure if compiler else None
        if compiler:
            compiler.join(_MEET_S)
        else:
            time.sleep(_MEET_S)


def _compile(name: str, library: pathlib.Path) -> None:
    """Makes the library in a folder of its own, and moves it to its place as a whole, in case the job ends meanwhile."""
    from torch.utils import cpp_extension
    library.parent.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("PATH", "")
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        try:
            # ninja may lie beside the interpreter, in a virtual environment that is not on PATH.
            os.environ["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), path])
            cpp_extension.load(name, [str(_SOURCE)], extra_cflags=["-std=c++20", "-O2"], with_cuda=False, build_directory=folder)
        finally:
            os.environ["PATH"] = path
        os.replace(pathlib.Path(folder) / library.name, library)


def _meeting(name: str) -> tuple[int, int, dist.Store]:
    """This process's rank in the group of this name, the group's size, and a store in which its members meet once."""
    group = dist.distributed_c10d._resolve_process_group(name)
    store = dist.PrefixStore("railshmem.symm_mem", dist.distributed_c10d._get_process_group_store(group))
    rank = dist.get_rank(group)
    meetings = store.add(f"meetings of rank {rank}", 1)
    return rank, dist.get_world_size(group), dist.PrefixStore(f"meeting {meetings}", store)
