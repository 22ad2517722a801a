# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures for tests that every PE runs, in one order, as a rank of torch.distributed. Results are compared with gloo's.

A PE on which a test fails leaves without finalize(), which ends the job.
"""
import os
import pathlib
import tempfile

import pytest
import torch
import torch.distributed as dist

import railshmem
import railshmem.distributed

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def pytest_generate_tests(metafunc):
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", DEVICES)


@pytest.fixture(scope="session", autouse=True)
def job(request):
    gpu = None
    if torch.cuda.is_available():  # PEs share the GPUs that there are
        gpu = int(os.environ["RAILSHMEM_LAUNCHER_PE"]) % torch.cuda.device_count()
    railshmem.init(device=gpu)
    # All PEs are children of one launcher, so its number names one file.
    store = pathlib.Path(tempfile.gettempdir()) / f"railshmem-test-store-{os.getppid()}"
    dist.init_process_group("railshmem", init_method=f"file://{store}", rank=railshmem.my_pe(), world_size=railshmem.n_pes())
    yield
    if not request.session.testsfailed:
        dist.destroy_process_group()
        railshmem.finalize()
        store.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def gloo(job):
    return dist.new_group(backend="gloo")


@pytest.fixture(autouse=True)
def in_step(job):
    yield
    railshmem.barrier_all()


@pytest.fixture
def me():
    return dist.get_rank()


@pytest.fixture
def npes():
    return dist.get_world_size()
