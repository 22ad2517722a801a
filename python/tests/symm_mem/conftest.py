# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from ranks import gloo, in_step, job, me, npes, pytest_generate_tests  # noqa: E402,F401

import pytest  # noqa: E402
import torch  # noqa: E402

import railshmem.symm_mem  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def backend(job):
    """For tensors of the GPU, too, where there is one: torch lets nobody select a backend behind the first tensor."""
    with pytest.raises(ValueError, match="nbytes is 0"):
        railshmem.symm_mem.enable(0)
    railshmem.symm_mem.enable(8 << 20)
    if torch.cuda.is_available():
        railshmem.symm_mem.enable(64 << 20, device="cuda")
