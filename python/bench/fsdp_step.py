# SPDX-License-Identifier: BSD-3-Clause
"""Times an FSDP2 training step of a transformer with RailSHMEM's collectives and without them, in turns.

    oshrun -n 2 python python/bench/fsdp_step.py                             # 2 GPUs, about 1B parameters, NCCL
    oshrun -n 2 python python/bench/fsdp_step.py --device cpu --layers 2 --hidden 64 --heads 4 --vocab 100 --sequence 32

One model is trained throughout; only its collectives change: those of the reference backend ("nccl", or gloo on CPUs),
"all-gather" (ours, and the reference's reduce-scatter), and "both" of ours. Rows: the median step of each, of the slowest
rank; whether losses from one state on are equal bit for bit; with --trace what the GPU did in one step of each. torchrun
starts it, too.
"""
import argparse
import contextlib
import os
import statistics

import job
import kernel_times
import torch
import torch.distributed as dist
import transformer
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.fsdp._fully_shard._fsdp_collectives import DefaultAllGather, DefaultReduceScatter
from torch.nn.attention import SDPBackend, sdpa_kernel

import railshmem
import railshmem.fsdp

KINDS = ("reference", "all-gather", "both")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    job.add_options(parser)
    transformer.add_options(parser, {"layers": 16, "hidden": 2048, "heads": 16, "vocab": 32000, "sequence": 2048, "batch": 2,
                                     "steps": 10, "warmup": 3, "rounds": 5, "prefetch": 1})
    parser.add_argument("--losses", type=int, default=3, help="steps whose losses are compared; 0: none (default: 3)")
    parser.add_argument("--keep", action="store_true", help="do not reshard after forward")
    parser.add_argument("--trace", help="folder for a trace of one step of each kind, by rank 0")
    return parser.parse_args()


def model_of(options):
    """Its name in rows."""
    return f"{options.layers} layers of {options.hidden}"


def build(options, mesh):
    torch.manual_seed(0)
    with torch.device(options.device):
        model = transformer.Transformer(options)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward=not options.keep)
    fully_shard(model, mesh=mesh, mp_policy=policy, reshard_after_forward=not options.keep)
    layers = list(model.layers)
    for index, layer in enumerate(layers if options.prefetch > 1 else []):
        layer.set_modules_to_forward_prefetch(layers[index + 1:index + 1 + options.prefetch])
        layer.set_modules_to_backward_prefetch(layers[max(index - options.prefetch, 0):index][::-1])
    return model


def use(model, installation, kind):
    """Has every FSDPModule use the collectives of this kind."""
    gather = DefaultAllGather() if kind == "reference" else installation.all_gather
    scatter = installation.reduce_scatter if kind == "both" else DefaultReduceScatter()
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.set_custom_all_gather(gather)
            module.set_custom_reduce_scatter(scatter)


def time_steps(model, installation, tokens, options, rows):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=options.device == "cuda")
    times = {kind: [] for kind in KINDS}
    for turn in range(options.rounds):
        for kind in KINDS[turn % 3:] + KINDS[:turn % 3]:  # none is always first
            use(model, installation, kind)
            transformer.run(model, optimizer, tokens, options, options.warmup)
            times[kind].append(transformer.run(model, optimizer, tokens, options, options.steps))
    for kind, found in times.items():
        rows.add("fsdp_step", 1e3 * statistics.median(found), "ms", kind=kind, model=model_of(options), lowest=1e3 * min(found), highest=1e3 * max(found))
    for kind in KINDS if options.trace else ():
        use(model, installation, kind)
        trace(model, optimizer, tokens, options, kind, rows)


def compare_losses(model, installation, tokens, options, rows):
    """Trains some steps from one state with each kind. The reference goes first and last: it may differ from itself."""
    # Backward passes add up in any order otherwise; those of fused attention do in any case.
    torch.use_deterministic_algorithms(True, warn_only=True)
    state = [parameter.detach().clone() for parameter in model.parameters()]
    found = {}
    for kind in KINDS + ("reference again",):
        with torch.no_grad():
            for parameter, kept in zip(model.parameters(), state):
                parameter.copy_(kept)
        use(model, installation, kind.split()[0])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        with sdpa_kernel(SDPBackend.MATH):
            found[kind] = transformer.losses(model, optimizer, tokens, options.losses)
    torch.use_deterministic_algorithms(False)
    for kind, mine in found.items():
        pairs = [(one, other) for a, b in zip(mine, found["reference"]) for one, other in zip(a, b)]
        rows.add("fsdp_losses", max(abs(one - other) for one, other in pairs), "difference", kind=kind,
                 equal=all(one == other for one, other in pairs), first=mine[0][0], last=mine[0][-1])


def trace(model, optimizer, tokens, options, kind, rows):
    profiler = torch.profiler.profile() if dist.get_rank() == 0 else contextlib.nullcontext()
    with profiler:
        transformer.run(model, optimizer, tokens, options, 1)
    if dist.get_rank() == 0:
        path = os.path.join(options.trace, f"fsdp_{kind}.json")
        profiler.export_chrome_trace(path)
        rows.add("fsdp_trace", 1, "steps", kind=kind, model=model_of(options), **kernel_times.of_file(path))


def main():
    options = parse()
    job.start_ranks(options.device, "cpu:gloo,cuda:nccl" if options.device == "cuda" else "gloo")
    rows = job.Rows(options.out)
    mesh = init_device_mesh(options.device, (dist.get_world_size(),))
    model = build(options, mesh)
    tokens = transformer.tokens_of(options)
    installation = railshmem.fsdp.install(model, mesh.get_group(), in_flight=2 + options.prefetch)
    if options.losses:
        compare_losses(model, installation, tokens, options, rows)
    time_steps(model, installation, tokens, options, rows)
    if dist.get_rank() == 0:
        place = torch.cuda.get_device_name() if options.device == "cuda" else "CPUs"
        parameters = sum(parameter.numel() for parameter in model.parameters())
        print(f"{parameters / 1e6:.0f}M parameters, {dist.get_world_size()} ranks, {place}, torch {torch.__version__}; "
              f"{installation.all_gather_pool}", flush=True)
    use(model, installation, "reference")
    installation.close()
    railshmem.finalize()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
