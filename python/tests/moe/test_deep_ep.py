# SPDX-License-Identifier: BSD-3-Clause
"""railshmem.deep_ep against plain torch, bit for bit: shapes, order of rows, handles, and what is refused."""
import os
import pathlib
import tempfile

import pytest
import torch
import torch.distributed as dist
from reference import Case, Tokens
from test_exchange import check, run_experts

import railshmem
import railshmem.deep_ep as deep_ep
from railshmem.deep_ep import _nodes
from railshmem.moe import Layout, Received


@pytest.fixture(scope="module")
def group(job):
    store = pathlib.Path(tempfile.gettempdir()) / f"railshmem-test-moe-{os.getppid()}"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=railshmem.my_pe(), world_size=railshmem.n_pes())
    yield dist.group.WORLD
    dist.destroy_process_group()
    railshmem.barrier_all()
    store.unlink(missing_ok=True)


@pytest.fixture
def buffer(group, npes):
    nbytes = deep_ep.Buffer.get_low_latency_rdma_size_hint(6, 512, npes, 4 * npes)
    buffer = deep_ep.Buffer(group, num_rdma_bytes=nbytes, low_latency_mode=True, num_qps_per_rank=4, explicitly_destroy=True)
    assert (buffer.rank, buffer.group_size, buffer.num_rdma_bytes) == (railshmem.my_pe(), npes, nbytes)
    yield buffer
    buffer.destroy()
    with pytest.raises(RuntimeError, match="this buffer was destroyed"):
        buffer.destroy()


def dispatch(buffer, case, tokens, gpu, **ways):
    return buffer.low_latency_dispatch(gpu.put(tokens.x), gpu.put(tokens.experts), case.max_tokens, case.experts, use_fp8=case.fp8,
                                       **{"round_scale": case.scale_type != "float", "use_ue8m0": case.scale_type == "ue8m0", **ways})


def as_received(case, recv_x, recv_count, handle, gpu, npes):
    """What Exchange would have returned; checks shapes and what the handle has."""
    sources, ranges, max_tokens, hidden, experts = handle
    assert (max_tokens, hidden, experts) == (case.max_tokens, case.hidden, case.experts)
    rows, scales = recv_x if case.fp8 else (recv_x, None)
    local, capacity = case.experts // npes, case.max_tokens * npes
    assert rows.shape == (local, capacity, hidden) and rows.is_contiguous() and rows.dtype == (torch.float8_e4m3fn if case.fp8 else torch.bfloat16)
    packed = case.scale_type == "ue8m0"
    if case.fp8:
        assert scales.shape == (local, capacity, hidden // (512 if packed else 128)) and scales.stride(1) == 1
        assert scales.dtype == (torch.int32 if packed else torch.float32)
    assert recv_count.shape == (local,) and recv_count.dtype == torch.int32
    assert sources.shape == (local, capacity) and ranges.shape == (local, npes)
    counts = (gpu.get(ranges) & 0xffffffff).to(torch.int32)
    return Received(rows, scales, gpu.put(counts), Layout(recv_count, ranges, sources))


CASES = {"powers": dict(topk=2, hidden=128, max_tokens=4, fp8=True, scale_type="power"),
         "ue8m0": dict(topk=2, hidden=512, max_tokens=4, fp8=True, scale_type="ue8m0"),
         "bf16": dict(topk=4, hidden=64, max_tokens=6, routing="dropped"), "fp8": dict(topk=3, hidden=256, max_tokens=5, fp8=True),
         "none": dict(topk=2, hidden=128, max_tokens=4, fp8=True, routing="none"), "twice": dict(topk=4, hidden=8, max_tokens=6, routing="twice")}


@pytest.mark.parametrize("way", ["plain", "hook", "event"])
@pytest.mark.parametrize("name", CASES)
def test_rounds(name, way, buffer, gpu, me, npes):
    case = Case(experts=4 * npes, **CASES[name])
    ways = {"plain": {}, "hook": {"return_recv_hook": True}, "event": {"async_finish": True}}[way]

    def finish(event, hook):
        assert (hook is None) == (way != "hook") and (event.event is None) == (way != "event")
        if way == "hook":
            hook()
        if way == "event":
            event.current_stream_wait()

    stats, total = gpu.put(torch.zeros(4, dtype=torch.int32)), torch.zeros(4, dtype=torch.int32)
    for round in range(4):
        sent = [Tokens(case, pe, round) for pe in range(npes)]
        mine = sent[me]
        recv_x, recv_count, handle, event, hook = dispatch(buffer, case, mine, gpu, cumulative_local_expert_recv_stats=stats, **ways)
        finish(event, hook)
        total += gpu.get(recv_count)
        results = run_experts(case, gpu, as_received(case, recv_x, recv_count, handle, gpu, npes), sent, me, npes)
        out = gpu.put(torch.zeros(mine.count, case.hidden).bfloat16()) if round % 2 else None
        if round == 2:  # results in the buffer's own memory
            buffer.get_next_low_latency_combine_buffer(handle).copy_(results)
        combined, event, hook = buffer.low_latency_combine(results, gpu.put(mine.experts), gpu.put(mine.weights), handle, zero_copy=round == 2, out=out, **ways)
        finish(event, hook)
        assert out is None or combined is out
        check(case, gpu.get(combined), mine, npes)
    assert torch.equal(gpu.get(stats), total)


def test_two_dispatches_wait_for_their_combine(buffer, gpu, me, npes):
    case = Case(experts=2 * npes, topk=2, hidden=128, max_tokens=4)
    sent = [[Tokens(case, pe, round) for pe in range(npes)] for round in range(3)]
    got = [dispatch(buffer, case, all[me], gpu, return_recv_hook=True) for all in sent[:2]]
    for one in reversed(got):
        one[4]()
    for all, (recv_x, recv_count, handle, _, _) in zip(sent, got):
        results = run_experts(case, gpu, as_received(case, recv_x, recv_count, handle, gpu, npes), all, me, npes)
        combined, _, hook = buffer.low_latency_combine(results, gpu.put(all[me].experts), gpu.put(all[me].weights), handle, return_recv_hook=True)
        hook()
        check(case, gpu.get(combined), all[me], npes)
    handles = [dispatch(buffer, case, all[me], gpu)[2] for all in sent]
    weights = gpu.put(sent[0][me].weights)
    with pytest.raises(RuntimeError, match="two dispatches of these sizes came after the one of this handle"):
        buffer.low_latency_combine(results, gpu.put(sent[0][me].experts), weights, handles[0])


def test_sizes_share_the_buffer(buffer, gpu, me, npes):
    """The hint is enough for both types; other sizes need more."""
    cases = [Case(experts=4 * npes, topk=4, hidden=256, max_tokens=6, fp8=fp8) for fp8 in (False, True)]
    for case in cases:
        buffer.prepare_low_latency(case.max_tokens, case.hidden, case.experts, case.topk, case.fp8)
        tokens = Tokens(case, me, 0)
        dispatch(buffer, case, tokens, gpu)
    with pytest.raises(ValueError, match=r"num_rdma_bytes is \d+, of which \d+ are in use for calls of other sizes, and Sizes\(max_tokens=512"):
        buffer.prepare_low_latency(512, 256, 4 * npes, 4)


def test_mistakes(buffer, group, gpu, me, npes):
    case = Case(experts=2 * npes, topk=2, hidden=128, max_tokens=4)
    tokens = Tokens(case, me, 0)
    x, experts, weights = map(gpu.put, (tokens.x, tokens.experts, tokens.weights))
    Buffer = deep_ep.Buffer
    for call, kind, text in (
            (lambda: Buffer(), ValueError, "pass group or comm"),
            (lambda: Buffer(group, low_latency_mode=True, allow_nvlink_for_low_latency_mode=False), ValueError, "by NVLink"),
            (lambda: Buffer.set_num_sms(7), ValueError, "it must be even"),
            (lambda: Buffer.get_low_latency_rdma_size_hint(4, 128, 2, 3), ValueError, "which 2 ranks do not divide"),
            (lambda: dispatch(buffer, case, tokens, gpu, dispatch_wait_recv_cost_stats=x), ValueError, "cost_stats is given, which is not there yet"),
            (lambda: buffer.low_latency_dispatch(x, experts, 4, 2 * npes, use_ue8m0=True), ValueError, "use_ue8m0 is given without use_fp8 and round_scale"),
            (lambda: dispatch(buffer, case, tokens, gpu, async_finish=True, return_recv_hook=True), ValueError, "pass one of them"),
            (lambda: dispatch(buffer, case, tokens, gpu, cumulative_local_expert_recv_stats=x), ValueError, "recv_stats has the shape"),
            (lambda: buffer.low_latency_dispatch(x[0], experts, 4, 2 * npes), TypeError, "x must be a tensor of two dimensions"),
            (lambda: buffer.low_latency_dispatch(x, experts[:1], 4, 2 * npes, use_fp8=False), ValueError, r"experts has the shape \[1, 2\]"),
            (lambda: buffer.low_latency_combine(x, experts, weights, (1, 2, 3, 4, 5)), TypeError, "pass what low_latency_dispatch"),
            (lambda: deep_ep.EventOverlap().current_stream_wait(), RuntimeError, "pass async_finish=True")):
        with pytest.raises(kind, match=text):
            call()
    recv_x, _, handle, _, _ = dispatch(buffer, case, tokens, gpu)
    for call, kind, text in (
            (lambda: buffer.low_latency_combine(recv_x, experts[:2], weights, handle), ValueError, "topk_idx has the shape"),
            (lambda: buffer.low_latency_combine(recv_x[:1], experts, weights, handle), ValueError, "results has the shape")):
        with pytest.raises(kind, match=text):
            call()
    combined = [buffer.low_latency_combine(recv_x, experts, weights, handle, use_logfmt=logfmt)[0] for logfmt in (False, True)]
    assert torch.equal(*combined)


def test_what_programs_ask_for_in_any_mode(buffer):
    Buffer = deep_ep.Buffer
    assert Buffer.is_sm90_compiled() and deep_ep.topk_idx_t is torch.int64
    Buffer.set_num_sms(24)
    for config in (Buffer.get_dispatch_config(8), Buffer.get_combine_config(8), deep_ep.Config(24)):
        assert config.num_sms == 24 and (config.get_rdma_buffer_size_hint(14336, 8) > 0) == _nodes.are_between(8)
    Buffer.set_num_sms(20)
    buffer.clean_low_latency_buffer(128, 7168, 64)
    event, calls = Buffer.capture(), []
    event.register_hook_after_wait(lambda: calls.append(1))
    with event(release_handle=True) as same:
        assert same is event
    assert calls == [1] and event.event is None
    for absent in ("internode_dispatch", "get_local_buffer_tensor"):
        assert not hasattr(buffer, absent)
