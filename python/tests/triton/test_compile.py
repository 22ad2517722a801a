# SPDX-License-Identifier: BSD-3-Clause
"""Kernels become machine code without a GPU, by the installed Triton's own LLVM and ptxas."""
import inspect
import pathlib
import re

import kernels
import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import railshmem.triton as rt

POINTERS = {"dest": "*i32", "source": "*i32", "signal": "*i64", "signals": "*i64", "arrived": "*i64", "free": "*i64",
            "gathered": "*i8", "mine": "*i8", "slots": "*fp32", "values": "*fp32", "word": "*i64", "out": "*i64"}
VIEW = "railshmem_device_view"


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))


def compile_kernel(kernel, arch=90, num_warps=4, libs=True, types=None, **constants):
    signature = {name: "constexpr" if name in constants else (POINTERS | (types or {})).get(name, "i64" if name == "nbytes" else "i32")
                 for name in kernel.arg_names}
    source = ASTSource(fn=kernel, signature=signature,
                       constexprs={(kernel.arg_names.index(name), ): value for name, value in constants.items()})
    options = {"num_warps": num_warps} | ({"extern_libs": rt.extern_libs()} if libs else {})
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def holds_the_library(compiled):
    """Machine code exists, so nothing was unresolved; the view is there under its name for the library to fill."""
    ptx = compiled.asm["ptx"]
    assert compiled.asm["cubin"]
    assert re.search(rf"\.visible \.const \.align 8 \.b8 {VIEW}\[\d+\]", ptx)
    assert not re.search(r"\.extern \.func \(?.*railshmem", ptx)
    return ptx


PIPELINE = {"CHUNK": 256, "SLOTS": 2}


@pytest.mark.parametrize("num_warps", [1, 4, 32])
def test_the_all_gather_kernel_compiles(num_warps):
    holds_the_library(compile_kernel(kernels.all_gather, num_warps=num_warps))


@pytest.mark.parametrize("kernel, constants", [(kernels.pipeline, PIPELINE), (kernels.ping_pong, {}), (kernels.who, {}),
                                               (kernels.every_transfer, {}), (kernels.every_atomic, {})],
                         ids=lambda it: getattr(it, "__name__", ""))
def test_every_kernel_compiles(kernel, constants):
    holds_the_library(compile_kernel(kernel, **constants))


@pytest.mark.parametrize("arch", [80, 100])
def test_kernels_compile_for_gpus_before_and_after_hopper(arch):
    holds_the_library(compile_kernel(kernels.ping_pong, arch=arch))


def test_words_of_four_bytes_have_functions_of_their_own():
    ptx = holds_the_library(compile_kernel(kernels.every_atomic, types={"word": "*i32"}))
    assert re.search(r"atom\.relaxed\.sys\.cas\.b32", ptx) and not re.search(r"atom\.relaxed\.sys\.cas\.b64", ptx)


def test_what_a_kernel_does_not_call_is_not_in_it():
    small = holds_the_library(compile_kernel(kernels.who))
    assert ".func" not in small.replace(".visible .entry", "")
    assert "bar.sync" not in small and "atom" not in small


def test_calls_are_made_once_and_in_order():
    calls = re.findall(r'symbol = "railshmem_(\w+)"', compile_kernel(kernels.every_transfer).asm["ttgir"])
    assert calls == ["putmem_block", "putmem_nbi_block", "fence_block", "putmem_signal_nbi_block", "quiet_block", "getmem_block",
                     "getmem_nbi_block", "sync_all_block", "barrier_all_block", "signal_fetch", "ptr"]


def test_code_for_other_nodes_is_no_part_of_the_kernel():
    """Inlined, it would take registers from the kernel's loop, whose variables would then lie in local memory: after each wait
    they come from behind the L1 cache.
    """
    ptx = holds_the_library(compile_kernel(kernels.ping_pong))
    assert len(re.findall(r"call\.uni .*put_signal_elsewhere", ptx)) == 2  # there and back


def test_a_kernel_without_calls_has_no_view():
    assert VIEW not in compile_kernel(kernels.no_call).asm["ptx"]


def test_a_plain_kernel_compiles_as_without_the_library():
    assert compile_kernel(kernels.plain, libs=False).asm["ptx"].count("railshmem") == 0


def test_a_plain_kernel_that_calls_is_refused_by_name():
    with pytest.raises(Exception, match="railshmem_my_pe"):
        compile_kernel(kernels.not_linked, libs=False)


def test_a_block_instead_of_a_pointer_is_refused():
    with pytest.raises(Exception) as error:
        compile_kernel(kernels.block_given, N=64)
    assert "dest is a block" in chain(error.value)


def test_a_float_instead_of_a_size_is_refused():
    with pytest.raises(Exception) as error:
        compile_kernel(kernels.float_given)
    assert "nbytes is a number of type" in chain(error.value)


def chain(error):
    return "" if error is None else f"{error}\n{chain(error.__cause__ or error.__context__)}"


def test_autotune_and_options_of_triton_apply():
    tuned = triton.autotune(configs=[triton.Config({}, num_warps=2)], key=[])(kernels.who)
    assert tuned.arg_names == ["out"]
    assert rt.jit(do_not_specialize=["out"])(kernels.who.fn).do_not_specialize == ["out"]


def test_every_function_is_documented():
    for name in rt.__all__:
        if not name.isupper():
            assert len(inspect.getdoc(getattr(rt, name)) or "") > 20, name


def test_the_kernels_of_the_tutorial_are_those_that_are_tested():
    folder = pathlib.Path(__file__).resolve().parents[3]
    tutorial = (folder / "docs/triton.md").read_text()
    tested = (folder / "python/tests/triton/kernels.py").read_text()
    shown = [block for block in re.findall(r"^```python\n(.*?)^```$", tutorial, re.M | re.S) if block.startswith(("@rt.jit", "@triton.jit"))]
    assert len(shown) == 2
    for block in shown:
        assert block in tested
