# SPDX-License-Identifier: BSD-3-Clause
"""Times a step of DistributedDataParallel by the process group "cuda:railshmem" and by NCCL's (gloo's on CPUs), in turns.

    oshrun -n 2 python python/bench/ddp_step.py                              # 2 GPUs, some 110M parameters, bfloat16
    oshrun -n 2 python python/bench/ddp_step.py --device cpu --layers 2 --hidden 64 --heads 4 --vocab 100 --sequence 32

Two replicas of one model are trained, one by each group; buckets have their default size. Rows: the median step of each, of
the slowest rank, and the largest difference of their first losses.
"""
import argparse
import copy
import statistics

import job
import torch
import torch.distributed as dist
import transformer
from torch.nn.parallel import DistributedDataParallel

import railshmem
import railshmem.distributed  # noqa: F401  (registers the backend)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    job.add_options(parser)
    transformer.add_options(parser, {"layers": 12, "hidden": 768, "heads": 12, "vocab": 16000, "sequence": 1024, "batch": 8,
                                     "steps": 15, "warmup": 4, "rounds": 5, "losses": 3})
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16")
    return parser.parse_args()


def replicas(options):
    """Kind -> model and optimizer. Collective."""
    torch.manual_seed(0)
    model = transformer.Transformer(options).to(options.device, getattr(torch, options.dtype))
    reference = dist.new_group(backend="nccl" if options.device == "cuda" else "gloo")
    made = {}
    for kind, group, own in (("railshmem", None, model), ("reference", reference, copy.deepcopy(model))):
        ids = [torch.cuda.current_device()] if options.device == "cuda" else None
        wrapped = DistributedDataParallel(own, device_ids=ids, process_group=group)
        made[kind] = (wrapped, torch.optim.AdamW(wrapped.parameters(), lr=1e-5, fused=options.device == "cuda"))
    return made


def main():
    options = parse()
    job.start_ranks(options.device, "cpu:gloo,cuda:railshmem")
    rows = job.Rows(options.out)
    made, tokens = replicas(options), transformer.tokens_of(options)
    found = [transformer.losses(model, optimizer, tokens, options.losses) for model, optimizer in made.values()]
    difference = max(abs(a - b) for one, other in zip(*found) for a, b in zip(one, other))
    rows.add("ddp_losses", difference, "difference", first=found[0][0][0], last=found[0][0][-1])
    times = {kind: [] for kind in made}
    kinds = tuple(made)
    for turn in range(options.rounds):
        for kind in kinds[turn % 2:] + kinds[:turn % 2]:  # none is always first
            transformer.run(*made[kind], tokens, options, options.warmup)
            times[kind].append(transformer.run(*made[kind], tokens, options, options.steps))
    parameters = sum(parameter.numel() for parameter in made["railshmem"][0].parameters())
    for kind, each in times.items():
        rows.add("ddp_step", 1e3 * statistics.median(each), "ms", kind=kind, lowest=1e3 * min(each), highest=1e3 * max(each),
                 parameters=parameters, dtype=options.dtype)
    made.clear()
    dist.destroy_process_group()
    railshmem.finalize()


if __name__ == "__main__":
    main()
