# SPDX-License-Identifier: BSD-3-Clause
"""A small model that is trained for some steps, sharded by FSDP2 over one group or another."""
import contextlib
import random
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard

import railshmem.fsdp

LAYERS = 5


class Block(torch.nn.Module):
    """Sizes are no multiples of the number of ranks, so that shards are uneven; one has fewer rows than there are ranks."""

    def __init__(self, frozen):
        super().__init__()
        self.first, self.second = torch.nn.Linear(13, 27), torch.nn.Linear(27, 13, bias=False)
        self.norm, self.scale = torch.nn.LayerNorm(13), torch.nn.Parameter(torch.ones(1))
        # A parameter of another type makes FSDP2 gather bytes.
        self.mask = torch.nn.Parameter(torch.ones(13, dtype=torch.bfloat16), requires_grad=False) if frozen else None

    def forward(self, x):
        y = self.second(torch.nn.functional.gelu(self.first(self.norm(x)))) * self.scale
        return x + (y if self.mask is None else y * self.mask.to(y.dtype))


class Model(torch.nn.Module):
    def __init__(self, frozen=False):
        super().__init__()
        self.inward = torch.nn.Linear(11, 13)
        self.blocks = torch.nn.ModuleList(Block(frozen) for _ in range(LAYERS))
        self.outward = torch.nn.Linear(13, 3)

    def forward(self, x):
        x = self.inward(x)
        for block in self.blocks:
            x = block(x)
        return self.outward(x)


def sharded(mesh, frozen=False, **options):
    """Returns the model with each block, and the rest, as one FSDPModule; equal on all ranks."""
    torch.manual_seed(3)
    model = Model(frozen).to(mesh.device_type)
    for block in model.blocks:
        fully_shard(block, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


def train(model, device, steps=3, accumulate=1, asynchronous=False, delayed=False, lr=0.05):
    """Returns the losses of this rank's batches, and the parameters after the steps."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    generator = torch.Generator().manual_seed(dist.get_rank())
    sleeps = random.Random(dist.get_rank())
    losses = []
    for _ in range(steps):
        for part in range(accumulate):
            model.set_requires_gradient_sync(part == accumulate - 1)
            batch, target = torch.randn(4, 11, generator=generator), torch.randn(4, 3, generator=generator)
            if delayed:
                time.sleep(sleeps.choice([0, 0, 0.05]))
            handle = model.unshard(async_op=True) if asynchronous else None
            if asynchronous:
                ahead = [block.unshard(async_op=True) for block in model.blocks]
                for waited in [handle, *ahead]:
                    waited.wait()
            loss = torch.nn.functional.mse_loss(model(batch.to(device)).float(), target.to(device))
            loss.backward()
            losses.append(loss.item())
        optimizer.step()
        optimizer.zero_grad()
    return losses, [parameter.to_local().detach().cpu().clone() for parameter in model.parameters()]


def reference_mesh(device, gloo):
    """A mesh over gloo; over the process group railshmem on GPUs, which gloo does not serve and NCCL not for one GPU."""
    if device == "cuda":
        return init_device_mesh("cuda", (dist.get_world_size(),))
    return DeviceMesh.from_group(gloo, "cpu", mesh_dim_names=("shard",))


@contextlib.contextmanager
def installed(model, group, **options):
    """Gives the installation, and closes it."""
    installation = railshmem.fsdp.install(model, group, **options)
    yield installation
    installation.close()
