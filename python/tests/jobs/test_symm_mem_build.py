# SPDX-License-Identifier: BSD-3-Clause
"""railshmem.symm_mem.enable() on machines that cannot compile."""
import os
import subprocess
import sys

import pytest

import railshmem

pytest.importorskip("torch")
OSHRUN = f"{os.path.dirname(railshmem.__file__)}/bin/oshrun"
PROGRAM = """
import railshmem, railshmem.symm_mem
railshmem.init()
try:
    railshmem.symm_mem.enable(1 << 20)
except RuntimeError as error:
    print(f"PE {railshmem.my_pe()} of 2: {str(error).splitlines()[0]}", flush=True)
railshmem.finalize()
"""


def test_an_old_torch_is_refused_by_its_version(tmp_path):
    program = PROGRAM.replace("railshmem.init()", 'import torch; torch.__version__ = "2.8.1+cpu"; railshmem.init()')
    said = subprocess.run([OSHRUN, "-n", "2", sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True,
                          env={**os.environ, "TORCH_EXTENSIONS_DIR": str(tmp_path)}).stdout
    assert said.count("torch 2.8.1+cpu has no symmetric memory that backends can join; install torch 2.9 or newer") == 2, said
    assert not list(tmp_path.iterdir()), "nothing is compiled"


def test_a_compiler_that_fails_is_an_exception_on_all_pes(tmp_path):
    said = subprocess.run([OSHRUN, "-n", "2", sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True,
                          env={**os.environ, "CXX": "/bin/false", "TORCH_EXTENSIONS_DIR": str(tmp_path)}).stdout
    assert "PE 0 of 2: railshmem.symm_mem.enable: the backend cannot be compiled against torch" in said
    assert "PE 1 of 2: railshmem.symm_mem.enable: PE 0 could not compile the backend; its own message says why" in said
    assert not list(tmp_path.iterdir()), "nothing half done is left"


def test_a_compiler_may_take_longer_than_waits_may(tmp_path):
    slow = tmp_path / "slow"
    slow.write_text('#!/bin/sh\ncase "$*" in *_backend.cpp*) sleep 25; exit 1 ;; esac\nexec c++ "$@"\n')
    slow.chmod(0o755)
    said = subprocess.run([OSHRUN, "-n", "2", sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=200, check=True,
                          env={**os.environ, "CXX": str(slow), "TORCH_EXTENSIONS_DIR": str(tmp_path / "built"), "SHMEM_WAIT_TIMEOUT": "15"}).stdout
    assert "PE 1 of 2: railshmem.symm_mem.enable: PE 0 could not compile the backend" in said
