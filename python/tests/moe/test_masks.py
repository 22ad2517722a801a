# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges and buffers that go on without members, on 2 PEs: PE 1 stays away, and comes back."""
import pytest
import torch
from reference import Case, Tokens
from test_deep_ep import as_received, dispatch, group  # noqa: F401
from test_exchange import check, one_round, run_experts

import railshmem
import railshmem.deep_ep as deep_ep

AFTER_MS = 2000


@pytest.fixture
def pair(npes):
    if npes != 2:
        pytest.skip("PE 1 of two stays away")


def without(case, tokens, away, npes):
    """The tokens as they are sent where `away` is masked."""
    tokens.experts[tokens.experts // (case.experts // npes) == away] = -1
    return tokens


def alone(case, round):
    """What PE 0 and PE 1 send while PE 1 is away."""
    sent = [Tokens(case, pe, round) for pe in range(2)]
    sent[1].experts.fill_(-1)
    return [without(case, tokens, 1, 2) for tokens in sent]


def lonely_round(case, exchange, gpu, round):
    """PE 0's part, whose tokens name PE 1's experts."""
    given, sent = Tokens(case, 0, round), alone(case, round)
    weights = gpu.put(given.weights)
    got = exchange.dispatch(gpu.put(given.x), gpu.put(given.experts), None if case.late_weights else weights, into=exchange.room(layout=True))
    out = exchange.combine(run_experts(case, gpu, got, sent, 0, 2), weights if case.late_weights else None)
    check(case, gpu.get(out), sent[0], 2)


def come_back(gpu, *exchanges):
    gpu.settle()
    railshmem.barrier_all()
    for exchange in exchanges:
        exchange.unmask()
    gpu.settle()
    railshmem.barrier_all()


@pytest.mark.parametrize("late", [False, True], ids=["early", "late"])
def test_the_program_masks(late, gpu, me, npes, pair):
    case = Case(experts=2 * npes, topk=3, hidden=16, max_tokens=5, late_weights=late)
    exchange = railshmem.moe.Exchange(**case.sizes(), maskable=True)
    one_round(case, exchange, gpu, me, npes, 0)
    if me == 0:
        exchange.mask(1)
        assert gpu.get(exchange.masked()).tolist() == [0, 1]
        for round in range(3):
            lonely_round(case, exchange, gpu, round)
    come_back(gpu, exchange)
    assert gpu.get(exchange.masked()).tolist() == [0, 0]
    for round in range(3):
        one_round(case, exchange, gpu, me, npes, round)
    exchange.meet()
    exchange.free()


def test_waits_mask_for_all_exchanges_that_share(gpu, me, npes, pair):
    case = Case(experts=2 * npes, topk=3, hidden=16, max_tokens=5)
    keeper = railshmem.moe.Exchange(**case.sizes(), maskable=True, mask_after_ms=AFTER_MS)
    other = railshmem.moe.Exchange(**case.sizes(), maskable=True, mask_after_ms=AFTER_MS, mask_of=keeper)
    one_round(case, other, gpu, me, npes, 0)
    if me == 0:
        lonely_round(case, keeper, gpu, 0)
        assert gpu.get(other.masked()).tolist() == [0, 1]
        lonely_round(case, other, gpu, 1)
    come_back(gpu, other, keeper)
    for exchange in (keeper, other):
        one_round(case, exchange, gpu, me, npes, 2)
    other.free()
    keeper.free()


def test_mistakes(gpu, me, npes):
    sizes = Case(experts=2 * npes, topk=2, hidden=16, max_tokens=4).sizes()
    Exchange = railshmem.moe.Exchange
    for change, kind, text in ((dict(mask_after_ms=5), ValueError, "mask_after_ms or mask_of is given without maskable=True"),
                               (dict(maskable=True, mask_after_ms=-1), ValueError, "mask_after_ms is -1"),
                               (dict(maskable=True, mask_of=gpu), TypeError, "mask_of is module; it must be an Exchange"),
                               (dict(zeroed=True), ValueError, "zeroed is given without workspace")):
        with pytest.raises(kind, match=text):
            Exchange(**sizes, **change)
    plain, maskable = Exchange(**sizes), Exchange(**sizes, maskable=True)
    for call, kind, text in ((lambda: plain.mask(0), RuntimeError, "this exchange was made without maskable=True"),
                             (lambda: plain.meet(), RuntimeError, "without maskable=True"),
                             (lambda: maskable.mask(me), ValueError, f"it must be another member than this PE, {me}, of 0 to {npes - 1}"),
                             (lambda: maskable.unmask(npes), ValueError, f"member is {npes}"),
                             (lambda: maskable.masked(gpu.put(torch.zeros(npes + 1, dtype=torch.int32))), ValueError, "into has the shape"),
                             (lambda: maskable.masked(gpu.put(torch.zeros(npes))), TypeError, "they must be of int32")):
        with pytest.raises(kind, match=text):
            call()
    plain.free()
    maskable.free()


def test_a_buffer_shrinks(group, gpu, me, npes, pair, monkeypatch):  # noqa: F811
    """As DeepEP's test does: a rank stays away, the others see it in the mask, and their sums are those without it."""
    monkeypatch.setattr(deep_ep.Buffer, "mask_after_ms", AFTER_MS)
    nbytes = deep_ep.Buffer.get_low_latency_rdma_size_hint(6, 512, npes, 4 * npes)
    buffer = deep_ep.Buffer(group, num_rdma_bytes=nbytes, low_latency_mode=True, enable_shrink=True)
    status = gpu.put(torch.full((npes,), 7, dtype=torch.int32))

    def masked():
        buffer.low_latency_query_mask_buffer(status)
        return gpu.get(status).tolist()

    def combine(case, recv_x, tokens, sent, handle, given):
        results = run_experts(case, gpu, as_received(case, recv_x, *handle, gpu, npes), sent, me, npes)
        out, _, _ = buffer.low_latency_combine(results, gpu.put(given.experts), gpu.put(given.weights), handle[1])
        check(case, gpu.get(out), tokens, npes)

    def whole(case, round):
        sent = [Tokens(case, pe, round) for pe in range(npes)]
        recv_x, count, handle, _, _ = dispatch(buffer, case, sent[me], gpu)
        combine(case, recv_x, sent[me], sent, (count, handle), sent[me])

    def lonely(case, round, calls=1):
        given, sent = Tokens(case, 0, round), alone(case, round)
        recv_x, count, handle, _, _ = dispatch(buffer, case, given, gpu)
        for _ in range(calls):
            combine(case, recv_x, sent[0], sent, (count, handle), given)

    bf16, fp8 = (Case(experts=4 * npes, topk=4, hidden=256, max_tokens=6, fp8=fp8, routing="dropped") for fp8 in (False, True))
    whole(bf16, 0)
    assert masked() == [0, 0]
    if me == 0:
        buffer.clean_low_latency_buffer(6, 256, 4 * npes)  # rank 1 does not come
        assert masked() == [0, 1]
        lonely(fp8, 1, calls=2)  # the first call of these sizes, which rank 1 does not make
        lonely(bf16, 2)
        with pytest.raises(ValueError, match="member is 0; it must be another member"):
            buffer.low_latency_update_mask_buffer(0, True)
    gpu.settle()
    railshmem.barrier_all()
    buffer.prepare_low_latency(6, 256, 4 * npes, 4)  # rank 1 catches up with the sizes
    buffer.low_latency_clean_mask_buffer()
    gpu.settle()
    railshmem.barrier_all()
    assert masked() == [0, 0]
    for case in (bf16, fp8, bf16):
        whole(case, 3)
    buffer.clean_low_latency_buffer(6, 256, 4 * npes)
    gpu.settle()
    railshmem.barrier_all()
    if me == 0:
        buffer.low_latency_update_mask_buffer(1, True)
        assert masked() == [0, 1]
        lonely(bf16, 4)
    gpu.settle()
    railshmem.barrier_all()
    buffer.low_latency_update_mask_buffer(1 - me, False)
    gpu.settle()
    railshmem.barrier_all()
    whole(bf16, 5)
    buffer.destroy()


def test_a_buffer_without_masks(group, npes):  # noqa: F811
    buffer = deep_ep.Buffer(group, low_latency_mode=True)
    for call in (lambda: buffer.low_latency_update_mask_buffer(0, True), buffer.low_latency_clean_mask_buffer,
                 lambda: buffer.low_latency_query_mask_buffer(torch.zeros(npes, dtype=torch.int32))):
        with pytest.raises(RuntimeError, match="this buffer was made without enable_shrink=True"):
            call()
    buffer.destroy()
