# SPDX-License-Identifier: BSD-3-Clause
"""Every PE runs these tests, in one order. With RAILSHMEM_FAKE_GPUS the driver is the fake one, whose memory is the host's, and
tensors of the CPU pass for CUDA tensors; else there are GPUs. A PE on which a test fails leaves without finalize(), which ends the job."""
import os

import pytest

import railshmem

FAKE = "RAILSHMEM_FAKE_GPUS" in os.environ
if FAKE:
    import fake as machine
else:
    import real as machine


@pytest.fixture(scope="session", autouse=True)
def job(request):
    machine.start()
    yield
    if not request.session.testsfailed:
        railshmem.finalize()


@pytest.fixture(autouse=True)
def in_step(job):
    yield
    machine.settle()
    railshmem.barrier_all()


@pytest.fixture
def me():
    return railshmem.my_pe()


@pytest.fixture
def npes():
    return railshmem.n_pes()


@pytest.fixture
def node_of(npes):
    """node_of(rank): the number of the rank's node."""
    size = int(os.environ.get("SHMEM_NODE_SIZE", npes))
    return lambda rank: rank // size


@pytest.fixture
def gpu():
    """gpu.put(tensor): the tensor in the GPU's memory; gpu.get(tensor): back, when streams have ended."""
    return machine


@pytest.fixture
def real_gpu():
    if FAKE:
        pytest.skip("torch's streams and graphs need a GPU")
    return machine
