# SPDX-License-Identifier: BSD-3-Clause
"""torch's own tests take a folder, a backend and the number of ranks from the environment, when they are imported."""
import os
import pathlib
import shutil
import tempfile

import numpy as np
import pytest
import torch.distributed as dist

import railshmem
import railshmem.distributed
import railshmem.numpy as rn

#: All PEs are children of one launcher, so its number names one folder.
FOLDER = pathlib.Path(tempfile.gettempdir()) / f"railshmem-c10d-{os.getppid()}"

stores = []


def pytest_configure(config):
    (FOLDER / "test_dir").mkdir(parents=True, exist_ok=True)
    os.environ.update(BACKEND="railshmem", TEMP_DIR=str(FOLDER), WORLD_SIZE=os.environ["EXPECTED_PES"])


@pytest.fixture(scope="session", autouse=True)
def job(request):
    """Starts the library, and a store for the process groups; torch's file store would look only each 10 ms."""
    railshmem.init()
    railshmem.distributed.configure(region_nbytes=256 << 10)  # each test has it set to zero
    port = rn.zeros(1, np.int64)
    server = None
    if railshmem.my_pe() == 0:
        server = dist.TCPStore("127.0.0.1", 0, is_master=True)
        port[0] = server.port
    rn.broadcast(port, port, 0)
    stores.append(server or dist.TCPStore("127.0.0.1", int(port[0])))
    rn.free(port)
    yield
    if not request.session.testsfailed:
        railshmem.barrier_all()
        if railshmem.my_pe() == 0:
            shutil.rmtree(FOLDER)
        railshmem.finalize()
