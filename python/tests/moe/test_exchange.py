# SPDX-License-Identifier: BSD-3-Clause
"""railshmem.moe against plain torch, bit for bit."""
import pytest
import torch
from reference import Case, Tokens, bits, combined, received, result_of, row_of, scales_of

import railshmem
import railshmem.moe


def run_experts(case, gpu, got, sent, me, npes):
    """Compares what has come with what must come; returns the experts' results."""
    rows, counts = gpu.get(got.rows), gpu.get(got.counts)
    scales = scales_of(case, gpu.get(got.scales)) if case.fp8 else None
    results = torch.zeros(rows.shape, dtype=case.dtype)
    totals, ranges, sources = map(gpu.get, got.layout) if got.layout else (None, None, None)
    for e, wanted in enumerate(received(case, sent, me, npes)):
        if got.layout:
            assert totals[e] == len(wanted) and sources[e, :len(wanted)].tolist() == [t for _, t in wanted]
            first = 0
            for pe, count in enumerate(counts[e].tolist()):
                assert ranges[e, pe] == (first << 32) + count
                first += count
        assert counts[e].tolist() == [sum(pe == source for source, _ in wanted) for pe in range(npes)]
        for row, (source, t) in enumerate(wanted):
            right, right_scales = row_of(case, sent[source].x[t])
            assert torch.equal(bits(rows[e, row]), bits(right)), (e, row)
            if case.fp8:
                assert torch.equal(scales[e, row], right_scales), (e, row)
            results[e, row] = result_of(case, me * rows.shape[0] + e, right, right_scales)
    return gpu.put(results)


def check(case, out, tokens, npes, factor=1):
    assert out.shape == (tokens.count, case.hidden)
    for t in range(tokens.count):
        assert torch.equal(bits(out[t]), bits(combined(case, tokens, t, npes, factor))), t


def one_round(case, exchange, gpu, me, npes, round, hook=False):
    sent = [Tokens(case, pe, round) for pe in range(npes)]
    mine = sent[me]
    weights = gpu.put(mine.weights) if case.weighted else None
    got = exchange.dispatch(gpu.put(mine.x), gpu.put(mine.experts), None if case.late_weights else weights, into=exchange.room(layout=True) if round % 2 else None,
                            hook=hook)
    if hook:
        exchange.complete()
    if not case.weighted:
        for tokens in sent:
            tokens.weights.fill_(1)
    out = exchange.combine(run_experts(case, gpu, got, sent, me, npes), weights if case.late_weights else None, hook=hook)
    if hook:
        exchange.complete()
    check(case, gpu.get(out), mine, npes)


CASES = {
    "bf16": dict(topk=3, hidden=72, max_tokens=6),
    "half": dict(topk=2, hidden=64, max_tokens=5, dtype=torch.float16),
    "dropped": dict(topk=4, hidden=16, max_tokens=7, routing="dropped"),
    "twice": dict(topk=4, hidden=24, max_tokens=6, routing="twice"),
    "one": dict(topk=2, hidden=8, max_tokens=6, routing="one"),
    "none": dict(topk=2, hidden=8, max_tokens=6, routing="none"),
    "unweighted": dict(topk=2, hidden=16, max_tokens=6, weighted=False),
    "late": dict(topk=3, hidden=72, max_tokens=6, late_weights=True),
    "late_twice": dict(topk=4, hidden=24, max_tokens=6, routing="twice", late_weights=True),
    "late_none": dict(topk=4, hidden=16, max_tokens=5, routing="none", late_weights=True, dtype=torch.float16),
    "fp8": dict(topk=2, hidden=256, max_tokens=5, fp8=True),
    "powers": dict(topk=2, hidden=256, max_tokens=5, fp8=True, scale_type="power"),
    "ue8m0": dict(topk=2, hidden=512, max_tokens=5, fp8=True, scale_type="ue8m0"),
    "fp8_half": dict(topk=2, hidden=128, max_tokens=4, fp8=True, dtype=torch.float16, routing="dropped"),
}


@pytest.mark.parametrize("hook", [False, True], ids=["whole", "halves"])
@pytest.mark.parametrize("name", CASES)
def test_rounds(name, hook, gpu, me, npes):
    case = Case(experts=4 * npes, **CASES[name])
    exchange = railshmem.moe.Exchange(**case.sizes())
    for round in range(4):
        one_round(case, exchange, gpu, me, npes, round, hook)
    exchange.free()


def test_two_exchanges_at_once(gpu, me, npes):
    case = Case(experts=2 * npes, topk=2, hidden=16, max_tokens=4)
    exchanges = [railshmem.moe.Exchange(**case.sizes()) for _ in range(2)]
    sent = [[Tokens(case, pe, round) for pe in range(npes)] for round in range(2)]
    got = [exchange.dispatch(*map(gpu.put, (all[me].x, all[me].experts, all[me].weights))) for exchange, all in zip(exchanges, sent)]
    for exchange, one, all in zip(exchanges, got, sent):
        check(case, gpu.get(exchange.combine(run_experts(case, gpu, one, all, me, npes))), all[me], npes)
    for exchange in exchanges:
        exchange.free()


@pytest.mark.parametrize("hook", [False, True], ids=["whole", "halves"])
def test_combines_again_with_other_weights(hook, gpu, me, npes):
    case = Case(experts=4 * npes, topk=3, hidden=128, max_tokens=6, late_weights=True, routing="dropped")
    exchange = railshmem.moe.Exchange(**case.sizes())
    for round in range(2):
        sent = [Tokens(case, pe, 0) for pe in range(npes)]
        got = exchange.dispatch(gpu.put(sent[me].x), gpu.put(sent[me].experts))
        results, wanted, outs = run_experts(case, gpu, got, sent, me, npes), [], []
        for again in range(5):
            sent[me].weights = torch.rand(sent[me].weights.shape)
            wanted.append(sent[me].weights)
            outs.append(exchange.combine(gpu.put(gpu.get(results) * 2 ** again), gpu.put(sent[me].weights), hook=hook))
            if hook:
                exchange.complete()
        for again, (weights, out) in enumerate(zip(wanted, outs)):
            sent[me].weights = weights
            check(case, gpu.get(out), sent[me], npes, factor=2 ** again)
    if npes == 1:  # without meetings, which take long on a busy machine
        for _ in range(251):
            exchange.combine(results, gpu.put(weights))
        with pytest.raises(RuntimeError, match="the dispatch before has 256 combines; dispatch again"):
            exchange.combine(results, gpu.put(weights))
    exchange.free()


def test_results_go_where_the_caller_says(gpu, me, npes):
    case = Case(experts=2 * npes, topk=2, hidden=128, max_tokens=4, fp8=True)
    exchange = railshmem.moe.Exchange(**case.sizes(), multiprocessors=2)
    sent = [Tokens(case, pe, 0) for pe in range(npes)]
    room, out = exchange.room(), gpu.put(torch.zeros(4, 128, dtype=torch.bfloat16))
    got = exchange.dispatch(*map(gpu.put, (sent[me].x, sent[me].experts, sent[me].weights)), into=room)
    assert got is room
    assert exchange.combine(run_experts(case, gpu, got, sent, me, npes), out=out) is out
    check(case, gpu.get(out), sent[me], npes)
    exchange.free()


def test_a_dispatch_without_a_combine(gpu, me, npes):
    case = Case(experts=npes, topk=1, hidden=8, max_tokens=3)
    exchange = railshmem.moe.Exchange(**case.sizes())
    for round in range(3):
        mine = Tokens(case, me, round)
        exchange.dispatch(gpu.put(mine.x), gpu.put(mine.experts))
    one_round(case, exchange, gpu, me, npes, 3)
    exchange.free()


def test_a_team_and_a_workspace_of_the_caller(gpu, me, npes):
    case = Case(experts=3, topk=2, hidden=8, max_tokens=3)
    alone = [railshmem.Team.world().split_strided(pe, 1, 1) for pe in range(npes)][me]
    nbytes = railshmem.moe.Exchange.workspace_nbytes(**case.sizes(), team=alone)
    exchange = railshmem.moe.Exchange(**case.sizes(), team=alone)
    assert (exchange.size, exchange.rank, exchange.local_experts, exchange.capacity) == (1, 0, 3, 3)
    one_round(case, exchange, gpu, 0, 1, 0)
    exchange.free()
    workspace = railshmem.moe._memory.symmetric("the test", nbytes, "a workspace", exchange.device)
    for _ in range(2):  # the memory serves another exchange when all have freed the first one
        exchange = railshmem.moe.Exchange(**case.sizes(), team=alone, workspace=workspace)
        one_round(case, exchange, gpu, 0, 1, 0)
        exchange.free()
    with pytest.raises(RuntimeError, match="the library refused the call"):
        railshmem.moe.Exchange(**case.sizes(), team=alone, workspace=workspace[:nbytes - 1])
    railshmem._core.free("the test", workspace)
    alone.destroy()
