# SPDX-License-Identifier: BSD-3-Clause
"""What the device library exports, as Numba declares it (python/device)."""
try:
    from numba import cuda
    from numba.cuda import LTOIR, PTXSource
    import numba_cuda  # noqa: F401  the package; Numba's own old target has no callbacks for modules
except ImportError as error:
    raise ImportError("railshmem.numba needs the package numba-cuda, version 0.30 or newer: pip install numba-cuda") from error

from railshmem import _core, _device_library

NAME = "railshmem.numba"
_A = "int64"  # an address, a size, a PE, a signal
_SIGNATURES = {
    "my_pe": "int32()",
    "n_pes": "int32()",
    "ptr": f"{_A}({_A}, {_A})",
    "signal_wait_until": f"{_A}({_A}, {_A}, {_A})",
    "signal_wait_until_block": f"int32({_A}, {_A}, {_A})",
    "signal_fetch": f"{_A}({_A})",
}
for _suffix in ("", "_block"):
    for _name in ("putmem", "putmem_nbi", "getmem", "getmem_nbi"):
        _SIGNATURES[_name + _suffix] = f"int32({', '.join([_A] * 4)})"
    for _name in ("putmem_signal", "putmem_signal_nbi"):
        _SIGNATURES[_name + _suffix] = f"int32({', '.join([_A] * 7)})"
    _SIGNATURES["signal_op" + _suffix] = f"int32({', '.join([_A] * 4)})"
    for _name in ("fence", "quiet", "barrier_all", "sync_all"):
        _SIGNATURES[_name + _suffix] = "int32()"
    for _type, _t in (("int32", "int32"), ("int64", "int64"), ("float", "float32"), ("double", "float64")):
        _SIGNATURES[f"{_type}_p{_suffix}"] = f"int32({_A}, {_t}, {_A})"
    for _type in ("int32", "int64"):
        for _name in ("add", "set"):
            _SIGNATURES[f"{_type}_atomic_{_name}{_suffix}"] = f"int32({_A}, {_type}, {_A})"
for _type, _t in (("int32", "int32"), ("int64", "int64"), ("float", "float32"), ("double", "float64")):
    _SIGNATURES[f"{_type}_g"] = f"{_t}({_A}, {_A})"
for _type in ("int32", "int64"):
    _SIGNATURES[f"{_type}_atomic_fetch"] = f"{_type}({_A}, {_A})"
    _SIGNATURES[f"{_type}_atomic_compare_swap"] = f"{_type}({_A}, {_type}, {_type}, {_A})"
    for _name in ("fetch_add", "swap"):
        _SIGNATURES[f"{_type}_atomic_{_name}"] = f"{_type}({_A}, {_type}, {_A})"

NAMES = sorted(_SIGNATURES)


def _introduce(module):
    """Numba calls it before the first launch of a kernel of the module."""
    _device_library.require_running(f"{NAME}: a kernel")
    _core.device_library_init(int(module.handle))


def _take_leave(module):
    """Numba calls it before it unloads the module."""
    _core.device_library_finalize(int(module.handle))


def linkable(kind):
    """The device library as Numba links it: kind is ptx or ltoir."""
    with open(_device_library.need(kind, NAME), "rb") as file:
        content = file.read()
    form = {"ptx": PTXSource, "ltoir": LTOIR}[kind]
    return form(content, name=f"librailshmem_device.{kind}", setup_callback=_introduce, teardown_callback=_take_leave)


def functions(kind):
    """The functions by name, linked as `kind`."""
    library = linkable(kind)
    return {name: cuda.declare_device(f"railshmem_{name}", signature, link=library, abi="c") for name, signature in _SIGNATURES.items()}
