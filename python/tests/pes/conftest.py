# SPDX-License-Identifier: BSD-3-Clause
"""Every PE runs these tests, in one order. A PE on which a test fails leaves without finalize(), which ends the job."""
import os

import pytest

import railshmem

try:
    import torch
except ImportError:
    torch = None
#: Where tensors may lie: every test that asks for `device` runs on each.
DEVICES = ["cpu"] + (["cuda"] if torch and torch.cuda.is_available() else [])


@pytest.fixture(scope="session", autouse=True)
def job(request):
    gpu = None
    if "cuda" in DEVICES:  # PEs share the GPUs that there are
        gpu = int(os.environ.get("RAILSHMEM_LAUNCHER_PE", 0)) % torch.cuda.device_count()
    railshmem.init(device=gpu)
    yield
    if not request.session.testsfailed:
        railshmem.finalize()


@pytest.fixture(autouse=True)
def in_step(job):
    yield
    railshmem.barrier_all()


@pytest.fixture
def me():
    return railshmem.my_pe()


@pytest.fixture
def npes():
    return railshmem.n_pes()


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def settle(device):
    """Waits for puts and gets of ordinary CUDA memory, before a test looks; see "Rules" in docs/python.md."""
    return torch.cuda.synchronize if device == "cuda" else lambda: None


class Tensors:
    """Makes symmetric tensors that are freed, in one order, when the test ends."""

    def __init__(self, device):
        self.device, self.made = device, []

    def __call__(self, *size, dtype=None, fill=None):
        import railshmem.torch
        self.made.append(railshmem.torch.zeros(*size, dtype=dtype, device=self.device))
        if fill is not None:
            self.made[-1].copy_(fill if isinstance(fill, torch.Tensor) else torch.as_tensor(fill))
        return self.made[-1]


@pytest.fixture
def tensors(device):
    import railshmem.torch
    made = Tensors(device)
    yield made
    for tensor in made.made:
        railshmem.torch.free(tensor)
