# SPDX-License-Identifier: BSD-3-Clause
"""railshmem.triton and railshmem.numba say what they lack; the package works without them."""
import subprocess
import sys

import pytest

from railshmem import _device_library


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("package, lacks, named", [("triton", "triton", "pip install triton"),
                                                   ("numba", "numba", "pip install numba-cuda")])
def test_a_missing_compiler_of_kernels_is_named(package, lacks, named):
    ended = run(f"import sys; sys.modules['{lacks}'] = None; import railshmem; import railshmem.{package}")
    assert ended.returncode == 1
    assert ended.stderr.rstrip().splitlines()[-1].startswith(f"ImportError: railshmem.{package} needs") and named in ended.stderr


def test_a_triton_that_is_too_old_is_named():
    ended = run("import sys, types; old = types.ModuleType('triton'); old.__version__ = '3.3.1'; sys.modules['triton'] = old; import railshmem.triton")
    assert ended.stderr.rstrip().endswith("ImportError: railshmem.triton needs triton 3.4 or newer; this is 3.3.1")


@pytest.mark.parametrize("kind, needs", [("bc", "clang-19"), ("ptx", "clang-19"), ("ltoir", "nvcc")])
def test_a_build_without_the_device_library_says_what_builds_it(kind, needs, monkeypatch, tmp_path):
    monkeypatch.setattr(_device_library, "PACKAGE", tmp_path)
    assert _device_library.find(kind) is None
    with pytest.raises(FileNotFoundError, match=f"no librailshmem_device.{kind} in .*{needs}"):
        _device_library.need(kind, "railshmem.triton")


def test_a_module_that_no_driver_has_loaded_is_refused():
    from railshmem import _core
    for introduce in (_core.device_module_init, _core.device_library_init):
        with pytest.raises(RuntimeError, match="the library refuses a module of kernels"):
            introduce(4096)
    assert not _core.device_library_finalize(4096)
