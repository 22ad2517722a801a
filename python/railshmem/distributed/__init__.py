# SPDX-License-Identifier: BSD-3-Clause
"""The backend "railshmem" of torch.distributed. Importing this module registers it.

    import railshmem.distributed
    torch.distributed.init_process_group("railshmem")  # by torchrun, oshrun, or any launcher that sets rank and size

Everything of torch.distributed works from there on: collectives, send and recv, groups, DDP, FSDP2. The first group starts
the library where railshmem.init() has not; the unique id travels by the store of torch.distributed, so that no launcher of
this package is needed. destroy_process_group() leaves the library again.

"cpu:gloo,cuda:railshmem" is accepted, too. A group written in Python is the whole group in torch, so CPU tensors then go
by this backend as well.
"""
try:
    import torch.distributed as _dist
except ImportError as error:
    raise ImportError("railshmem.distributed needs PyTorch, which this Python does not have; pip install torch") from error
if not _dist.is_available():
    raise ImportError("railshmem.distributed needs torch.distributed, which this PyTorch was built without")

from railshmem.distributed._group import ProcessGroup
from railshmem.distributed._members import join as _join
from railshmem.distributed._runtime import configure

__all__ = ["ProcessGroup", "configure"]


def _make_group(store, rank, size, timeout):
    return ProcessGroup(_join(store, rank, size, timeout), timeout)


_dist.Backend.register_backend("railshmem", _make_group, devices=["cpu", "cuda"])
