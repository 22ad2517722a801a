# SPDX-License-Identifier: BSD-3-Clause
"""Times of railshmem.deep_ep's calls for many tokens, beside a copy between GPUs of as many bytes as cross. Prints medians in us.

    SHMEM_HEAP_KIND=device SHMEM_SYMMETRIC_SIZE=5G oshrun -n 2 python3 perftest/python/deep_ep_many.py [multiprocessors, as 0,64,24]
"""
import os
import pathlib
import statistics
import sys
import tempfile

import torch
import torch.distributed as dist

import railshmem
import railshmem.deep_ep as deep_ep
import railshmem.torch

TOKENS, HIDDEN, TOPK, EXPERTS = 4096, 7168, 8, 256


def timed(call, repetitions=20):
    """The median of the call's times on the GPU, after a meeting."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    dist.barrier()
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repetitions)]
    for begin, end in events:
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(1e3 * begin.elapsed_time(end) for begin, end in events)


def main(limits):
    railshmem.init(device=int(os.environ.get("RAILSHMEM_LAUNCHER_PE", 0)) % torch.cuda.device_count())
    me, npes = railshmem.my_pe(), railshmem.n_pes()
    store = pathlib.Path(tempfile.gettempdir()) / f"railshmem-deep-ep-{os.getppid()}"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=me, world_size=npes)
    buffer = deep_ep.Buffer(dist.group.WORLD, num_nvl_bytes=deep_ep.Config().get_nvl_buffer_size_hint(2 * HIDDEN, npes))
    torch.manual_seed(me)
    x = torch.randn(TOKENS, HIDDEN, device="cuda").bfloat16()
    small = x.to(torch.float8_e4m3fn), torch.rand(TOKENS, HIDDEN // 128, device="cuda")
    chosen, weights = torch.rand(TOKENS, EXPERTS, device="cuda").topk(TOPK).indices, torch.rand(TOKENS, TOPK, device="cuda")
    _, _, per_expert, in_rank, _ = buffer.get_dispatch_layout(chosen, EXPERTS)
    layout = {"is_token_in_rank": in_rank, "num_tokens_per_expert": per_expert}

    def say(what, us):
        if me == 0:
            print(f"{what}: {us:.1f} us", flush=True)

    crossing = (in_rank.sum() - in_rank[:, me].sum()).item() * HIDDEN * 2
    there = railshmem.torch.empty(TOKENS * HIDDEN * 2 * npes, dtype=torch.uint8, device="cuda")
    source, dest = torch.empty(crossing, dtype=torch.uint8, device="cuda"), railshmem.torch.peer(there, (me + 1) % npes)[:crossing]
    say(f"copy of the {crossing / 1e6:.1f} MB that cross in bf16", timed(lambda: dest.copy_(source)))
    say("get_dispatch_layout", timed(lambda: buffer.get_dispatch_layout(chosen, EXPERTS)))
    for limit in limits:
        config, name = deep_ep.Config(limit), f"{limit or 'all'} multiprocessors"
        rows, *_, handle, _ = buffer.dispatch(x, **layout, config=config)
        say(f"{name}: dispatch, bf16", timed(lambda: buffer.dispatch(x, handle=handle, config=config)))
        say(f"{name}: dispatch, 8 bits", timed(lambda: buffer.dispatch(small, handle=handle, config=config)))
        say(f"{name}: combine", timed(lambda: buffer.combine(rows, handle, config=config)))
        say(f"{name}: dispatch with counts and top-k",
            timed(lambda: buffer.dispatch(x, **layout, topk_idx=chosen, topk_weights=weights, config=config)))
    railshmem.torch.free(there)
    buffer.destroy()
    dist.destroy_process_group()
    store.unlink(missing_ok=True)
    railshmem.finalize()


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1].split(",")] if len(sys.argv) > 1 else [0])
