# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of numba.cuda become machine code without a GPU: by NVVM, and linked by nvJitLink."""
import importlib
import re
import types as python_types

import pytest
from numba import cuda, types

import railshmem.numba as rn
from railshmem import _core, _device_library
from railshmem.numba import _declarations

VIEW = "railshmem_device_view"


def called(ptx):
    return set(re.findall(r"\.extern \.func .*railshmem_(\w+)", ptx))



@pytest.fixture(params=["ptx", "ltoir"])
def kind(request):
    if _device_library.find(request.param) is None:
        pytest.skip(f"this build has no librailshmem_device.{request.param}")
    return request.param


def functions_of(kind):
    return rn if kind == "ptx" else importlib.import_module("railshmem.numba.lto")


def compile_to(output, kernel, *arguments):
    try:
        return cuda.compile(kernel, types.void(*arguments), cc=(9, 0), device=False, abi="numba", output=output)[0]
    except RuntimeError as error:
        pytest.skip(f"no NVVM: {error}")


def compile_ptx(kernel, *arguments):
    return compile_to("ptx", kernel, *arguments)


def link(kind, kernel, *arguments):
    """Machine code for sm_90 of the kernel and the device library; both are of one kind."""
    core = pytest.importorskip("cuda.core")
    if core.Linker.which_backend() != "nvJitLink":
        pytest.skip("no nvJitLink, and no GPU's driver to link instead")
    code = compile_to(kind, kernel, *arguments)
    of_kind = getattr(core.ObjectCode, f"from_{kind}")
    with open(_device_library.find(kind), "rb") as file:
        parts = of_kind(code.encode() if isinstance(code, str) else code), of_kind(file.read())
    options = core.LinkerOptions(arch="sm_90", link_time_optimization=True if kind == "ltoir" else None)
    return bytes(core.Linker(*parts, options=options).link("cubin").code)


INTS, SIGNALS = types.int32[::1], types.int64[::1]


def test_a_kernel_of_puts_and_signals_links(kind):
    rn = functions_of(kind)

    def ring(dest, source, signal, number):
        to = (rn.my_pe() + 1) % rn.n_pes()
        rn.putmem_signal_block(rn.at(dest, 0), rn.at(source, 0), 4 * source.size, rn.at(signal, 0), number, rn.SIGNAL_SET, to)
        if cuda.threadIdx.x == 0:
            rn.signal_wait_until(rn.at(signal, 0), rn.CMP_GE, number)
            rn.int64_atomic_fetch_add(rn.at(signal, 1), 1, to)
        rn.barrier_all_block()

    ptx = compile_ptx(ring, INTS, INTS, SIGNALS, types.int64)
    assert called(ptx) == {"my_pe", "n_pes", "putmem_signal_block", "signal_wait_until",
                                                         "int64_atomic_fetch_add", "barrier_all_block"}
    assert VIEW.encode() in link(kind, ring, INTS, INTS, SIGNALS, types.int64)


def test_every_function_links(kind):
    """A declaration that the library lacks, or has with other types, does not link."""
    functions = _declarations.functions(kind)
    calls = []
    for name, function in functions.items():
        numbers = ", ".join("1.0" if each in (types.float32, types.float64) else "1" for each in function.sig.args)
        calls.append(f"    {name}({numbers})\n")
    scope = dict(functions)
    exec("def kernel():\n" + "".join(calls), scope)
    ptx = compile_ptx(scope["kernel"])
    assert called(ptx) == set(_declarations.NAMES)
    assert VIEW.encode() in link(kind, scope["kernel"])


def test_declarations_have_the_types_of_the_library():
    with open(_device_library.find("ptx")) as file:
        ptx = file.read()
    letters = {types.int32: "b32", types.int64: "b64", types.float32: "b32", types.float64: "b64"}
    for name, function in _declarations.functions("ptx").items():
        found = re.search(rf"^\.visible \.func +\(\.param \.(\w+) \w+\) railshmem_{name}\(((?:\n\s*\.param .*)*)", ptx, re.M)
        assert found, name
        assert [found[1], *re.findall(r"\.param \.(\w+)", found[2])] == [letters[each] for each in (function.sig.return_type, *function.sig.args)], name


def test_addresses_are_those_of_elements():
    def kernel(a, out):
        out[0] = rn.at(a, 3) - rn.at(a, 0)

    assert re.search(r"st\.global\.\w*64\s+\[%\w+\], 12;|mul|mad|shl", compile_ptx(kernel, INTS, SIGNALS))


def test_an_array_with_gaps_is_refused():
    def kernel(a):
        rn.putmem(rn.at(a, 0), rn.at(a, 0), 4, 0)

    with pytest.raises(Exception, match="pass a contiguous array"):
        compile_ptx(kernel, types.int32[:])


def test_the_library_is_told_of_a_module_at_its_setup_and_of_its_end(monkeypatch):
    told = []
    monkeypatch.setattr(_core, "is_initialized", lambda: True)
    monkeypatch.setattr(_core, "device_library_init", lambda library: told.append(("init", library)))
    monkeypatch.setattr(_core, "device_library_finalize", lambda library: told.append(("finalize", library)))
    code = _declarations.linkable("ptx")
    module = python_types.SimpleNamespace(handle=7)
    code.setup_callback(module)
    code.teardown_callback(module)
    assert told == [("init", 7), ("finalize", 7)]


def test_a_launch_before_init_raises(monkeypatch):
    monkeypatch.setattr(_core, "is_initialized", lambda: False)
    with pytest.raises(RuntimeError, match="call railshmem.init"):
        _declarations.linkable("ptx").setup_callback(python_types.SimpleNamespace(handle=7))
