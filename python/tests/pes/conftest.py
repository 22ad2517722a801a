# SPDX-License-Identifier: BSD-3-Clause
"""Every PE runs these tests, in one order. A PE on which a test fails leaves without finalize(), which ends the job."""
import pytest

import railshmem


@pytest.fixture(scope="session", autouse=True)
def job(request):
    railshmem.init()
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
