# SPDX-License-Identifier: BSD-3-Clause
"""Streams, graphs and threads of torch; on GPUs."""
import threading

import torch
from reference import Case, Tokens
from test_exchange import check, one_round, run_experts

import railshmem
import railshmem.moe


def test_calls_are_in_the_order_of_the_current_stream(real_gpu, me, npes):
    case = Case(experts=2 * npes, topk=2, hidden=2048, max_tokens=64)
    exchange = railshmem.moe.Exchange(**case.sizes())
    sent = [Tokens(case, pe, 0) for pe in range(npes)]
    right = [tensor.cuda() for tensor in (sent[me].x, sent[me].experts, sent[me].weights)]
    inputs, side = [torch.zeros_like(tensor) for tensor in right], torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)  # the next work is not done when dispatch() returns
        for to, tensor in zip(inputs, right):
            to.copy_(tensor)
        got = exchange.dispatch(*inputs)
        inputs[0].zero_()  # behind the dispatch
        rows = got.rows.clone()
    side.synchronize()
    with torch.cuda.stream(side):
        out = exchange.combine(run_experts(case, real_gpu, got._replace(rows=rows), sent, me, npes))
    side.synchronize()
    check(case, out.cpu(), sent[me], npes)
    exchange.free()


def graph_rounds(case, gpu, me, npes, rounds, hook):
    """Dispatch, experts that double, and combine in one graph, whose routing changes from launch to launch."""
    exchange = railshmem.moe.Exchange(**case.sizes())
    x = torch.zeros(case.max_tokens, case.hidden, dtype=case.dtype, device="cuda")
    experts = torch.full((case.max_tokens, case.topk), -1, device="cuda")
    weights = torch.zeros(case.max_tokens, case.topk, device="cuda")

    def layer():
        got = exchange.dispatch(x, experts, weights, hook=hook)
        if hook:
            exchange.complete()
        out = exchange.combine(got.rows.mul(2), hook=hook)
        if hook:
            exchange.complete()
        return got.counts.sum(), out

    layer()
    torch.cuda.synchronize()
    railshmem.barrier_all()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        total, out = layer()
    for round in range(rounds):
        sent = [Tokens(case, pe, round) for pe in range(npes)]
        mine = sent[me]
        x[:mine.count].copy_(mine.x)
        experts.fill_(-1)
        experts[:mine.count].copy_(mine.experts)
        weights[:mine.count].copy_(mine.weights)
        graph.replay()
        local = case.experts // npes
        assert total.item() == sum(len({e for e in row if e // local == me and e >= 0}) for tokens in sent for row in tokens.experts.tolist())
        wanted = 2 * (x.float() * torch.where(experts >= 0, weights, 0).sum(1)[:, None])
        torch.testing.assert_close(out.float(), wanted, rtol=2e-2, atol=1e-3)
    again = out.clone()
    graph.replay()
    assert torch.equal(out, again)  # the bits are those of every run
    torch.cuda.synchronize()
    railshmem.barrier_all()
    del graph
    exchange.free()


def test_a_graph(real_gpu, me, npes):
    graph_rounds(Case(experts=4 * npes, topk=4, hidden=1024, max_tokens=32, routing="dropped"), real_gpu, me, npes, 200, False)


def test_a_graph_by_halves(real_gpu, me, npes):
    graph_rounds(Case(experts=4 * npes, topk=3, hidden=512, max_tokens=48, dtype=torch.float16), real_gpu, me, npes, 200, True)


def test_work_between_the_halves(real_gpu, me, npes):
    """Nothing of the calls runs on multiprocessors while a product does."""
    case = Case(experts=2 * npes, topk=2, hidden=512, max_tokens=16, fp8=True)
    exchange = railshmem.moe.Exchange(**case.sizes())
    a = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
    right = a @ a
    for round in range(20):
        sent = [Tokens(case, pe, round) for pe in range(npes)]
        got = exchange.dispatch(sent[me].x.cuda(), sent[me].experts.cuda(), sent[me].weights.cuda(), hook=True)
        product = a @ a
        exchange.complete()
        out = exchange.combine(run_experts(case, real_gpu, got, sent, me, npes), hook=True)
        assert torch.equal(product, right)
        product = a @ a
        exchange.complete()
        check(case, out.cpu(), sent[me], npes)
        assert torch.equal(product, right)
    exchange.free()


def test_large(real_gpu, me, npes):
    """Sizes of real layers, against sums that torch makes on the GPU."""
    tokens, hidden, topk, experts = 128, 7168, 8, 32 * npes
    exchange = railshmem.moe.Exchange(experts, topk, hidden, tokens, fp8=True)
    for round in range(5):
        random = torch.Generator(device="cuda").manual_seed(10 * round + me)
        x = torch.randn(tokens, hidden, device="cuda", generator=random).bfloat16()
        chosen = torch.rand(tokens, experts, device="cuda", generator=random).topk(topk).indices
        weights = torch.rand(tokens, topk, device="cuda", generator=random)
        got = exchange.dispatch(x, chosen, weights)
        values = (got.rows.float().view(*got.rows.shape[:2], -1, 128) * got.scales[..., None]).view(got.rows.shape).bfloat16()
        out = exchange.combine(values)
        torch.testing.assert_close(out.float(), x.float() * weights.sum(1)[:, None], rtol=0.08, atol=0.1)
    exchange.free()


def test_another_thread_and_another_device(real_gpu, me, npes):
    case, failures = Case(experts=2 * npes, topk=2, hidden=64, max_tokens=8), []
    exchange = railshmem.moe.Exchange(**case.sizes())

    def work():
        try:
            torch.cuda.set_device(exchange.device)
            one_round(case, exchange, real_gpu, me, npes, 0)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failures, failures
    if torch.cuda.device_count() > 1:
        with torch.cuda.device((exchange.device.index + 1) % torch.cuda.device_count()):
            try:
                exchange.dispatch(torch.zeros(1, 64).bfloat16().cuda(), torch.zeros(1, 2, dtype=torch.int64).cuda())
            except RuntimeError as error:
                assert "torch's current device is not the exchange's" in str(error)
            else:
                raise AssertionError("no exception")
    exchange.free()
