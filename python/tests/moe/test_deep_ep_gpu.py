# SPDX-License-Identifier: BSD-3-Clause
"""railshmem.deep_ep on GPUs: real sizes, streams and graphs."""
import pytest
import torch
from test_deep_ep import group  # noqa: F401  (a fixture)

import railshmem
import railshmem.deep_ep as deep_ep
from railshmem.deep_ep._nodes import are_between
from railshmem.deep_ep._throughput import nbytes_of

TOKENS, HIDDEN, TOPK = 128, 7168, 8


@pytest.fixture
def experts(npes):
    return 32 * npes


@pytest.fixture
def buffer(real_gpu, group, npes, experts):  # noqa: F811
    nbytes = deep_ep.Buffer.get_low_latency_rdma_size_hint(TOKENS, HIDDEN, npes, experts)
    buffer = deep_ep.Buffer(group, num_rdma_bytes=nbytes, low_latency_mode=True)
    yield buffer
    buffer.destroy()


def routing(seed, experts, tokens=TOKENS):
    random = torch.Generator(device="cuda").manual_seed(seed)
    chosen = torch.rand(tokens, experts, device="cuda", generator=random).topk(TOPK).indices
    chosen[torch.rand(tokens, TOPK, device="cuda", generator=random) < 0.05] = -1
    return chosen, torch.rand(tokens, TOPK, device="cuda", generator=random)


def values_of(recv_x):
    if not isinstance(recv_x, tuple):
        return recv_x.clone()
    rows, scales = recv_x
    return (rows.float().view(*rows.shape[:2], -1, 128) * scales[..., None]).view(rows.shape).bfloat16()


@pytest.mark.parametrize("way", ["plain", "hook", "event"])
@pytest.mark.parametrize("fp8", [False, True], ids=["bf16", "fp8"])
def test_each_row_says_whose_it_is(fp8, way, buffer, me, npes, experts):
    """A row has its rank in all channels but the last 128, which have its token's number."""
    ways = {"plain": {}, "hook": {"return_recv_hook": True}, "event": {"async_finish": True}}[way]

    def finish(event, hook):
        hook() if hook else None
        event.current_stream_wait() if way == "event" else None

    x = torch.full((TOKENS, HIDDEN), 1.0 + me, device="cuda").bfloat16()
    x[:, -128:] = torch.arange(TOKENS, device="cuda")[:, None]
    for round in range(10):
        all_chosen = [routing(100 * round + pe, experts)[0] for pe in range(npes)]
        chosen, weights = routing(100 * round + me, experts)
        recv_x, recv_count, handle, event, hook = buffer.low_latency_dispatch(x, chosen, TOKENS, experts, use_fp8=fp8, **ways)
        finish(event, hook)
        values = values_of(recv_x)
        for e in range(experts // npes):
            number = me * (experts // npes) + e
            assert recv_count[e] == sum((theirs == number).sum() for theirs in all_chosen)
            for pe, theirs in enumerate(all_chosen):
                first, count = divmod(handle[1][e, pe].item(), 1 << 32)
                tokens = (theirs == number).any(1).nonzero().view(-1)
                rows = values[e, first:first + count]
                assert torch.equal(handle[0][e, first:first + count].long(), tokens)
                assert torch.allclose(rows[:, :-128].float(), torch.tensor(1.0 + pe, device="cuda"), rtol=1e-2)
                assert torch.allclose(rows[:, -128:].float(), tokens[:, None].float(), rtol=1e-2, atol=1e-2)
        combined, event, hook = buffer.low_latency_combine(values, chosen, weights, handle, **ways)
        finish(event, hook)
        wanted = x.float() * weights.masked_fill(chosen == -1, 0).sum(1, keepdim=True)
        torch.testing.assert_close(combined.float(), wanted, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("hooks", [False, True], ids=["whole", "hooks"])
def test_a_graph(hooks, buffer, me, npes, experts):
    x, chosen = torch.zeros(TOKENS, HIDDEN, device="cuda").bfloat16(), torch.full((TOKENS, TOPK), -1, device="cuda")
    weights = torch.zeros(TOKENS, TOPK, device="cuda")

    def layer():
        recv_x, recv_count, handle, _, hook = buffer.low_latency_dispatch(x, chosen, TOKENS, experts, return_recv_hook=hooks)
        hook() if hooks else None
        out, _, hook = buffer.low_latency_combine(values_of(recv_x), chosen, weights, handle, return_recv_hook=hooks)
        hook() if hooks else None
        return out

    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="a graph cannot capture the first call with"):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            layer()
    layer()
    torch.cuda.synchronize()
    railshmem.barrier_all()
    with torch.cuda.graph(graph):
        out = layer()
    for round in range(100):
        new_chosen, new_weights = routing(1000 + 100 * round + me, experts)
        x.normal_()
        chosen.copy_(new_chosen)
        weights.copy_(new_weights)
        graph.replay()
        wanted = x.float() * weights.masked_fill(chosen == -1, 0).sum(1, keepdim=True)
        torch.testing.assert_close(out.float(), wanted, rtol=0.08, atol=0.1)
    torch.cuda.synchronize()
    railshmem.barrier_all()
    del graph


def test_work_beside_a_call(buffer, me, npes, experts):
    """async_finish: a product in the current stream does not wait for the call."""
    a = torch.randn(4096, 4096, device="cuda").bfloat16()
    right, x = a @ a, torch.randn(TOKENS, HIDDEN, device="cuda").bfloat16()
    for round in range(20):
        chosen, weights = routing(100 * round + me, experts)
        recv_x, _, handle, event, _ = buffer.low_latency_dispatch(x, chosen, TOKENS, experts, use_fp8=False, async_finish=True)
        with event:
            product = a @ a
        out, event, _ = buffer.low_latency_combine(recv_x, chosen, weights, handle, async_finish=True)
        again = a @ a
        event.current_stream_wait()
        assert torch.equal(product, right) and torch.equal(again, right)
        wanted = x.float() * weights.masked_fill(chosen == -1, 0).sum(1, keepdim=True)
        torch.testing.assert_close(out.float(), wanted, rtol=2e-2, atol=2e-2)


def test_two_batches_in_turns(buffer, me, npes, experts):
    """While one batch's tokens travel, the other's experts work; all by hooks."""
    for round in range(20):
        batches = []
        for part in range(2):
            x = torch.randn(TOKENS // 2, HIDDEN, device="cuda").bfloat16()
            chosen, weights = routing(100 * round + 10 * part + me, experts, TOKENS // 2)
            got = buffer.low_latency_dispatch(x, chosen, TOKENS, experts, use_fp8=False, return_recv_hook=True)
            batches.append((x, chosen, weights, got))
        outs = []
        for x, chosen, weights, (recv_x, _, handle, _, hook) in batches:
            hook()
            outs.append(buffer.low_latency_combine(recv_x.mul(2), chosen, weights, handle, return_recv_hook=True))
        for (x, chosen, weights, _), (out, _, hook) in zip(batches, outs):
            hook()
            wanted = 2 * x.float() * weights.masked_fill(chosen == -1, 0).sum(1, keepdim=True)
            torch.testing.assert_close(out.float(), wanted, rtol=2e-2, atol=2e-2)


def test_many_tokens_in_a_graph(real_gpu, group, me, npes, experts):  # noqa: F811
    """With num_worst_tokens nothing waits for the CPU; routing and tokens change from launch to launch."""
    tokens = 512
    buffer = deep_ep.Buffer(group, num_nvl_bytes=nbytes_of(npes, HIDDEN, tokens, are_between(npes)))
    x, chosen = torch.zeros(tokens, HIDDEN, device="cuda").bfloat16(), torch.full((tokens, TOPK), -1, device="cuda")
    weights = torch.zeros(tokens, TOPK, device="cuda")

    def layer():
        _, _, per_expert, in_rank, _ = buffer.get_dispatch_layout(chosen, experts)
        recv_x, recv_idx, recv_weights, none, handle, _ = buffer.dispatch(
            x, is_token_in_rank=in_rank, num_tokens_per_expert=per_expert, topk_idx=chosen, topk_weights=weights, num_worst_tokens=npes * tokens)
        assert none == []
        scaled = recv_x * recv_weights.sum(1, keepdim=True)
        return buffer.combine(scaled.bfloat16(), handle, topk_weights=recv_weights)[:2]

    layer()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        combined, home = layer()
    for round in range(10):
        all_chosen, all_weights = routing(100 * round + me, experts, tokens)
        x.copy_(torch.randn(tokens, HIDDEN, device="cuda"))
        chosen.copy_(all_chosen)
        weights.copy_(all_weights)
        graph.replay()
        kept = weights.masked_fill(chosen == -1, 0)
        assert torch.equal(home, kept)
        torch.testing.assert_close(combined.float(), x.float() * kept.sum(1, keepdim=True), rtol=3e-2, atol=3e-2)
    buffer.destroy()


def test_programs_may_set_a_default_device(real_gpu, group, me, npes, experts):  # noqa: F811
    """Counts come to the CPU even so."""
    tokens = 64
    buffer = deep_ep.Buffer(group, num_nvl_bytes=nbytes_of(npes, HIDDEN, tokens, are_between(npes)))
    x, (chosen, weights) = torch.randn(tokens, HIDDEN, device="cuda").bfloat16(), routing(me, experts, tokens)
    with torch.device("cuda"):
        _, _, per_expert, in_rank, _ = buffer.get_dispatch_layout(chosen, experts)
        _, _, _, named, handle, _ = buffer.dispatch(x, is_token_in_rank=in_rank, num_tokens_per_expert=per_expert, topk_idx=chosen, topk_weights=weights)
    assert len(named) == experts // npes and handle.route.received >= max(named)
    buffer.destroy()
