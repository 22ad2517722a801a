# SPDX-License-Identifier: BSD-3-Clause
"""Every PE runs these tests, in one order, on a GPU each or on one that they share. SHMEM_HEAP_KIND is device."""
import os
import pathlib
import sys

import pytest
import torch
from memory import Memory

import railshmem

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "triton"))  # the kernels


@pytest.fixture(scope="session", autouse=True)
def job(request):
    railshmem.init(device=int(os.environ.get("RAILSHMEM_LAUNCHER_PE", 0)) % torch.cuda.device_count())
    yield
    if not request.session.testsfailed:
        railshmem.finalize()


@pytest.fixture(autouse=True)
def in_step(job):
    yield
    torch.cuda.synchronize()
    railshmem.barrier_all()


@pytest.fixture
def me():
    return railshmem.my_pe()


@pytest.fixture
def npes():
    return railshmem.n_pes()


@pytest.fixture
def symmetric():
    """symmetric(shape, typestr): a tensor of zeros in the symmetric memory of this PE's GPU; collective. Freed after the test."""
    memory = Memory()
    yield memory.zeros
    memory.close()
