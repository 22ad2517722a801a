# SPDX-License-Identifier: BSD-3-Clause
"""Trains a small transformer that FSDP2 shards, with RailSHMEM's collectives. docs/tutorials/08-fsdp2.md explains it.

    torchrun --standalone --nproc-per-node 4 examples/fsdp2.py
"""
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import railshmem.distributed
import railshmem.fsdp

HIDDEN, LENGTH, WORDS = 64, 32, 50
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cuda":
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
dist.init_process_group("railshmem")
mesh = init_device_mesh(device, (dist.get_world_size(),))

torch.manual_seed(0)
layers = [torch.nn.TransformerEncoderLayer(HIDDEN, 4, 4 * HIDDEN, dropout=0, batch_first=True) for _ in range(4)]
model = torch.nn.Sequential(torch.nn.Embedding(WORDS, HIDDEN), *layers, torch.nn.Linear(HIDDEN, WORDS)).to(device)
for layer in layers:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
installed = railshmem.fsdp.install(model, mesh.get_group())

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
generator = torch.Generator().manual_seed(dist.get_rank())
for step in range(30):
    start = torch.randint(WORDS, (8, 1), generator=generator)
    words = ((start + torch.arange(LENGTH + 1)) % WORDS).to(device)  # each word is followed by the next one
    loss = torch.nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    mean = loss.detach().clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    if step % 10 == 9 and dist.get_rank() == 0:
        print(f"step {step + 1}: loss {mean.item():.3f}", flush=True)
learned = mean.item() < 1  # guessing gives log(WORDS) = 3.9
if dist.get_rank() == 0:
    print(installed.all_gather_pool)
    print("passed" if learned else "FAILED", flush=True)
installed.close()
dist.destroy_process_group()
sys.exit(0 if learned else 1)
