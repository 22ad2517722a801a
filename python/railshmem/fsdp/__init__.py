# SPDX-License-Identifier: BSD-3-Clause
"""FSDP2 (torch.distributed.fsdp.fully_shard) with RailSHMEM's all-gather and reduce-scatter. Needs torch 2.9 or newer.

    installed = railshmem.fsdp.install(model, mesh.get_group())
    ...                                                             # the training loop, as it was
    installed.close()

The library runs before: by init_process_group("railshmem") of railshmem.distributed, or by railshmem.init() beside any other
backend. Both classes put their calls into torch's current stream for CUDA tensors. Memory that allocate() hands out is in
the symmetric heap, so that peers reach it without a copy, and inside a node copy engines can move it.

Making and closing pools, classes and installations is collective; nothing else here allocates symmetric memory or makes teams.
"""
try:
    from torch.distributed.fsdp import FSDPModule as _FSDPModule
except ImportError as error:
    raise ImportError("railshmem.fsdp needs PyTorch with FSDP2; pip install 'torch>=2.9'") from error
if not hasattr(_FSDPModule, "set_custom_all_gather"):
    raise ImportError("railshmem.fsdp needs FSDPModule.set_custom_all_gather; pip install 'torch>=2.9'")

from railshmem.fsdp._all_gather import AllGather
from railshmem.fsdp._install import Installation, install
from railshmem.fsdp._pool import Pool
from railshmem.fsdp._reduce_scatter import ReduceScatter

__all__ = ["AllGather", "Installation", "Pool", "ReduceScatter", "install"]
