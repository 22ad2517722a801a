# SPDX-License-Identifier: BSD-3-Clause
"""Times an FSDP2 training step of a transformer with RailSHMEM's collectives and without them, in turns.

    torchrun --standalone --nproc-per-node 2 python/bench/fsdp_step.py                    # 2 GPUs, about 1B parameters, NCCL
    torchrun --standalone --nproc-per-node 2 python/bench/fsdp_step.py --device cpu --layers 2 --hidden 64 --heads 4 --vocab 100

One model is trained throughout; only its collectives change: those of the reference backend ("nccl", or gloo on CPUs),
"all-gather" (ours, and the reference's reduce-scatter), and "both" of ours. Rank 0 prints the median of each, over all ranks'
slowest, and ratios to the reference.
"""
import argparse
import contextlib
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.fsdp._fully_shard._fsdp_collectives import DefaultAllGather, DefaultReduceScatter

import railshmem
import railshmem.fsdp


class Layer(torch.nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = torch.nn.LayerNorm(hidden), torch.nn.LayerNorm(hidden)
        self.qkv, self.out = torch.nn.Linear(hidden, 3 * hidden), torch.nn.Linear(hidden, hidden)
        self.up, self.down = torch.nn.Linear(hidden, 4 * hidden), torch.nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        batch, length, hidden = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.before(x)).chunk(3, -1))
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, hidden))
        return x + self.down(torch.nn.functional.gelu(self.up(self.after(x))))


class Transformer(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        self.embed = torch.nn.Embedding(options.vocab, options.hidden)
        self.layers = torch.nn.ModuleList(Layer(options.hidden, options.heads) for _ in range(options.layers))
        self.head = torch.nn.Linear(options.hidden, options.vocab, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("layers", 16), ("hidden", 2048), ("heads", 16), ("vocab", 32000), ("sequence", 2048), ("batch", 2),
                          ("steps", 10), ("warmup", 3), ("rounds", 5), ("prefetch", 1)):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default: {default}")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--keep", action="store_true", help="do not reshard after forward")
    parser.add_argument("--trace", help="folder for a trace of one step of each kind, by rank 0")
    return parser.parse_args()


def build(options, mesh):
    torch.manual_seed(0)
    with torch.device(options.device):
        model = Transformer(options)
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


def synchronize(options):
    if options.device == "cuda":
        torch.cuda.synchronize()


def run(model, optimizer, tokens, options, steps):
    """Returns the seconds of one step, on average."""
    dist.barrier()
    synchronize(options)
    begin = time.perf_counter()
    for _ in range(steps):
        logits = model(tokens[:, :-1]).float()
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    synchronize(options)
    return (time.perf_counter() - begin) / steps


def slowest(seconds):
    found = [None] * dist.get_world_size()
    dist.all_gather_object(found, seconds)
    return max(found)


def trace(model, optimizer, tokens, options, kind):
    profiler = torch.profiler.profile() if dist.get_rank() == 0 else contextlib.nullcontext()
    with profiler:
        run(model, optimizer, tokens, options, 1)
    if dist.get_rank() == 0:
        profiler.export_chrome_trace(os.path.join(options.trace, f"{kind}.json"))


def main():
    options = parse()
    if options.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cpu:gloo,cuda:nccl" if options.device == "cuda" else "gloo")
    railshmem.init(group=dist.group.WORLD, device=torch.cuda.current_device() if options.device == "cuda" else None)
    mesh = init_device_mesh(options.device, (dist.get_world_size(),))
    model = build(options, mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=options.device == "cuda")
    tokens = torch.randint(options.vocab, (options.batch, options.sequence + 1), device=options.device)
    installation = railshmem.fsdp.install(model, mesh.get_group(), in_flight=2 + options.prefetch)
    kinds = ("reference", "all-gather", "both")
    times = {kind: [] for kind in kinds}
    for round_ in range(options.rounds):
        for kind in kinds[round_ % 3:] + kinds[:round_ % 3]:  # none is always first
            use(model, installation, kind)
            run(model, optimizer, tokens, options, options.warmup)
            times[kind].append(slowest(run(model, optimizer, tokens, options, options.steps)))
    for kind in kinds if options.trace else ():
        use(model, installation, kind)
        trace(model, optimizer, tokens, options, kind)
    if dist.get_rank() == 0:
        report(times, sum(parameter.numel() for parameter in model.parameters()), installation, options)
    use(model, installation, "reference")
    installation.close()
    railshmem.finalize()
    dist.destroy_process_group()


def report(times, parameters, installation, options):
    place = torch.cuda.get_device_name() if options.device == "cuda" else "CPUs"
    print(f"{parameters / 1e6:.0f}M parameters, {dist.get_world_size()} ranks, {place}, torch {torch.__version__}")
    medians = {kind: statistics.median(found) for kind, found in times.items()}
    for kind, found in times.items():
        print(f"{kind:10} {1e3 * medians[kind]:9.2f} ms a step ({1e3 * min(found):.2f} to {1e3 * max(found):.2f}), "
              f"{medians[kind] / medians['reference']:.3f} of the reference")
    print(installation.all_gather_pool)


if __name__ == "__main__":
    main()
