# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM for Python: processing elements (PEs) read and write each other's memory.

    oshrun -n 2 python program.py

Every PE calls init() first and finalize() last. railshmem.numpy has numpy arrays and what can be done with them,
railshmem.torch has PyTorch tensors on CPUs and GPUs.

Mistakes raise exceptions: RuntimeError for a call at the wrong time, ValueError and TypeError for arguments, with a
message that says what to do. Calls that wait release the GIL. A wait for a PE that has died, or for longer than
SHMEM_WAIT_TIMEOUT, ends the process with a message.
"""
from railshmem._core import Team
from railshmem._info import info
from railshmem._job import barrier_all, fence, finalize, init, is_initialized, my_pe, n_pes, quiet, unique_id
from railshmem._places import get_cmake_dir, get_include

__all__ = ["Team", "barrier_all", "fence", "finalize", "get_cmake_dir", "get_include", "info", "init", "is_initialized",
           "my_pe", "n_pes", "quiet", "unique_id"]
