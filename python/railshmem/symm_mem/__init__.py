# SPDX-License-Identifier: BSD-3-Clause
"""The backend RAILSHMEM of torch.distributed._symmetric_memory, for tensors on the symmetric heap.

    railshmem.init()
    railshmem.symm_mem.enable(64 << 20)                           # compiles the backend once, and selects it
    t = torch.distributed._symmetric_memory.empty(1000, device="cpu")
    handle = torch.distributed._symmetric_memory.rendezvous(t, torch.distributed.group.WORLD)
    handle.get_buffer(peer, (1000,), torch.float32)               # the peer's tensor
    handle.barrier()

The members of a group are on one node. With enable(nbytes, device="cuda") and device="cuda" this is memory of GPUs, and signals
are in the order of streams.
"""
from railshmem.symm_mem._enable import enable

__all__ = ["enable"]
