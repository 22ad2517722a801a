# SPDX-License-Identifier: BSD-3-Clause
"""railshmem.deep_ep's calls for many tokens against plain torch, bit for bit: layouts, rows, top-k, handles, and what is refused."""
import pytest
import torch
from reference import Case, Tokens, row_of
from test_deep_ep import group  # noqa: F401  (a fixture)

import railshmem.deep_ep as deep_ep
from railshmem.deep_ep import _nodes, _throughput

LOCAL, MOST, HIDDEN = 3, 6, 128


def nbytes_for(npes, tokens=8):
    return _throughput.nbytes_of(npes, HIDDEN, tokens, _nodes.are_between(npes))


@pytest.fixture
def buffer(group, npes):  # noqa: F811
    buffer = deep_ep.Buffer(group, num_nvl_bytes=nbytes_for(npes))
    yield buffer
    buffer.destroy()


def case_of(npes, routing="random", topk=2):
    return Case(experts=LOCAL * npes, topk=topk, hidden=HIDDEN, max_tokens=MOST, routing=routing)


def local_of(experts, rank):
    """Numbers among the rank's experts, -1 for others'."""
    here = (experts >= rank * LOCAL) & (experts < (rank + 1) * LOCAL)
    return torch.where(here, experts - rank * LOCAL, -1)


def going_to(tokens, rank):
    """The tokens with experts of a rank."""
    return (local_of(tokens.experts, rank) >= 0).any(1).nonzero().view(-1)


def layout_of(buffer, tokens, gpu, npes):
    return buffer.get_dispatch_layout(gpu.put(tokens.experts), LOCAL * npes)


def arguments(buffer, tokens, gpu, npes, fp8=False, topk=True):
    per_rank, per_node, per_expert, in_rank, _ = layout_of(buffer, tokens, gpu, npes)
    x = gpu.put(tokens.x)
    if fp8:
        rows = [row_of(Case(1, 1, HIDDEN, 1, fp8=True), one) for one in tokens.x]
        values = torch.stack([row.view(torch.uint8) for row, _ in rows]) if rows else torch.zeros(0, HIDDEN, dtype=torch.uint8)
        scales = torch.stack([scale.view(-1) for _, scale in rows]) if rows else torch.zeros(0, HIDDEN // 128)
        x = gpu.put(values.view(torch.float8_e4m3fn)), gpu.put(scales)
    given = {"x": x, "num_tokens_per_rank": per_rank, "num_tokens_per_rdma_rank": per_node, "is_token_in_rank": in_rank, "num_tokens_per_expert": per_expert}
    if topk:
        given |= {"topk_idx": gpu.put(tokens.experts), "topk_weights": gpu.put(tokens.weights)}
    return given


def bits(tensor):
    return tensor.view(torch.uint8)


@pytest.mark.parametrize("routing", ["random", "dropped", "twice", "one", "none"])
def test_layout(routing, buffer, gpu, me, npes, node_of):
    for round in range(3):
        tokens = Tokens(case_of(npes, routing), me, round)
        per_rank, per_node, per_expert, in_rank, event = layout_of(buffer, tokens, gpu, npes)
        nodes = node_of(npes - 1) + 1
        to_nodes = [{token.item() for rank in range(npes) if node_of(rank) == node for token in going_to(tokens, rank)} for node in range(nodes)]
        assert per_node is None if nodes == 1 else gpu.get(per_node).tolist() == [len(tokens) for tokens in to_nodes]
        assert event.event is None and in_rank.dtype == torch.bool and in_rank.shape == (tokens.count, npes)
        for rank in range(npes):
            assert torch.equal(gpu.get(in_rank)[:, rank].nonzero().view(-1), going_to(tokens, rank))
        assert torch.equal(gpu.get(per_rank), gpu.get(in_rank).sum(0).int())
        assert gpu.get(per_expert).tolist() == [(tokens.experts == e).sum().item() for e in range(LOCAL * npes)]


@pytest.mark.parametrize("worst", [False, True], ids=["counted", "worst"])
@pytest.mark.parametrize("way", ["plain", "event"])
@pytest.mark.parametrize("fp8", [False, True], ids=["bf16", "fp8"])
@pytest.mark.parametrize("routing", ["random", "dropped", "none"])
def test_rounds(routing, fp8, way, worst, buffer, gpu, me, npes, node_of):
    case, alignment = case_of(npes, routing), 4
    ways = {"async_finish": True} if way == "event" else {}

    def finish(event):
        assert (event.event is None) == (way == "plain")
        event.current_stream_wait() if way == "event" else None

    for round in range(3):
        sent = [Tokens(case, pe, round) for pe in range(npes)]
        come = [going_to(theirs, me) for theirs in sent]
        count = sum(len(tokens) for tokens in come)
        room = npes * MOST + 1 if worst else 0
        before = {"previous_event": buffer.capture()} if way == "event" else {}
        recv_x, recv_idx, recv_weights, per_expert, handle, event = buffer.dispatch(
            **arguments(buffer, sent[me], gpu, npes, fp8), num_worst_tokens=room, expert_alignment=alignment, **ways, **before)
        finish(event)
        values = recv_x[0] if fp8 else recv_x
        assert values.shape == (room or count, HIDDEN)
        wanted = torch.cat([theirs.x[tokens] for theirs, tokens in zip(sent, come)])
        if fp8:
            made = [row_of(Case(1, 1, HIDDEN, 1, fp8=True), x) for x in wanted]
            for row, (right, scales) in enumerate(made):
                assert torch.equal(bits(gpu.get(values[row:row + 1])).view(-1), bits(right).view(-1))
                assert torch.equal(gpu.get(recv_x[1][row]), scales.view(-1))
        else:
            assert torch.equal(gpu.get(values)[:count], wanted)
        idx, weights = (torch.cat([of(theirs)[tokens] for theirs, tokens in zip(sent, come)])
                        for of in (lambda theirs: local_of(theirs.experts, me), lambda theirs: theirs.weights))
        got = gpu.get(recv_idx)
        assert torch.equal(got[:count], idx) and (got[count:] == -1).all()
        assert torch.equal(gpu.get(recv_weights)[:count], torch.where(idx >= 0, weights, 0))
        totals = [(idx == e).sum().item() for e in range(LOCAL)]
        assert per_expert == ([] if worst else [-(-total // alignment) * alignment for total in totals])
        ends = torch.tensor([[len(going_to(theirs, rank)) for rank in range(npes)] for theirs in sent]).cumsum(0)
        if node_of(npes - 1) == 0:
            assert torch.equal(gpu.get(handle[0]).long(), ends)
            assert torch.equal(gpu.get(handle[3])[:count].long(), torch.cat(come))
        else:
            assert len(handle) == 10 and torch.equal(gpu.get(handle[-4]).long(), ends[:, me])
            assert torch.equal(gpu.get(handle[0])[:, me].nonzero().view(-1), going_to(sent[me], me))

        again = buffer.dispatch(gpu.put(sent[me].x), handle=handle, **ways)
        finish(again[5])
        assert again[1:5] == (None, None, None, None)
        rows = torch.cat([theirs.x[tokens] for theirs, tokens in zip(sent, come)])
        assert torch.equal(gpu.get(again[0])[:count], rows)

        results = torch.zeros(room or count, HIDDEN, dtype=torch.bfloat16)
        results[:count] = rows * (me + 1)
        back = torch.zeros(room or count, case.topk)
        back[:count] = torch.where(idx >= 0, weights, 0)
        for repeat in range(2):
            combined, home, event = buffer.combine(gpu.put(results), handle, topk_weights=gpu.put(back), **ways)
            finish(event)
            mine = sent[me]
            sums = torch.zeros(mine.count, HIDDEN)
            for rank in range(npes):
                goes = torch.zeros(mine.count, 1)
                goes[going_to(mine, rank)] = 1
                sums += goes * (mine.x * (rank + 1)).float()
            assert torch.equal(gpu.get(combined), sums.bfloat16())
            assert torch.equal(gpu.get(home), torch.where(mine.experts >= 0, mine.weights, 0))


def test_combines_in_any_order(buffer, gpu, me, npes):
    """Two micro-batches at once, and their backward passes in reverse order: other routes came since a handle's."""
    case = case_of(npes)
    sent = [[Tokens(case, pe, round) for pe in range(npes)] for round in (0, 1, 2)]
    got = [buffer.dispatch(**arguments(buffer, all[me], gpu, npes, fp8=round == 1)) for round, all in enumerate(sent)]
    for round in (0, 2, 1, 0):
        all, handle = sent[round], got[round][4]
        rows = torch.cat([theirs.x[going_to(theirs, me)] for theirs in all])
        combined, none, _ = buffer.combine(gpu.put(rows), handle)
        times = torch.stack([(local_of(all[me].experts, rank) >= 0).any(1) for rank in range(npes)]).sum(0)
        assert none is None
        assert torch.equal(gpu.get(combined), (all[me].x.float() * times[:, None]).bfloat16())


def test_more_tokens_take_the_memory_of_fewer(group, gpu, me, npes):  # noqa: F811
    buffer = deep_ep.Buffer(group, num_nvl_bytes=nbytes_for(npes, 4))
    case = Case(experts=LOCAL * npes, topk=2, hidden=HIDDEN, max_tokens=4)
    for round, most in enumerate((1, 2, 4, 1)):
        sent = [Tokens(case, pe, round, tokens=most if pe == 0 else 1) for pe in range(npes)]
        recv_x, _, _, _, handle, _ = buffer.dispatch(**arguments(buffer, sent[me], gpu, npes))
        assert torch.equal(gpu.get(recv_x), torch.cat([theirs.x[going_to(theirs, me)] for theirs in sent]))
        combined, _, _ = buffer.combine(recv_x, handle, bias=gpu.put(sent[me].x))
        times = 1 + torch.stack([(local_of(sent[me].experts, rank) >= 0).any(1) for rank in range(npes)]).sum(0)
        torch.testing.assert_close(gpu.get(combined).float(), sent[me].x.float() * times[:, None], rtol=1e-2, atol=1e-2)
    too_many = Tokens(Case(experts=LOCAL * npes, topk=2, hidden=HIDDEN, max_tokens=500), me, 0)
    with pytest.raises(ValueError, match=r"num_nvl_bytes is \d+, and 500 tokens of 128 channels of each rank take \d+; see"):
        buffer.dispatch(**arguments(buffer, too_many, gpu, npes))
    buffer.destroy()


def test_mistakes(buffer, gpu, me, npes, node_of):
    tokens = Tokens(case_of(npes), me, 0)
    good = arguments(buffer, tokens, gpu, npes)
    handle = buffer.dispatch(**good)[4]
    experts = good["topk_idx"]
    for call, kind, text in (
            (lambda: buffer.get_dispatch_layout(experts, LOCAL * npes + (npes > 1)), ValueError, "ranks do not divide" if npes > 1 else None),
            (lambda: buffer.get_dispatch_layout(experts[0], LOCAL * npes), ValueError, r"it must be \[tokens, top-k\]"),
            (lambda: buffer.dispatch(good["x"]), ValueError, "is_token_in_rank is missing; pass what get_dispatch_layout"),
            (lambda: buffer.dispatch(**good | {"x": good["x"][0]}), TypeError, "x must be a tensor of two dimensions"),
            (lambda: buffer.dispatch(**good | {"x": (good["x"], good["x"])}), ValueError, "the scales of x has the shape"),
            (lambda: buffer.dispatch(**good | {"is_token_in_rank": good["is_token_in_rank"][:1]}), ValueError, "is_token_in_rank has the shape"),
            (lambda: buffer.dispatch(**good | {"is_token_in_rank": good["is_token_in_rank"].int()}), TypeError, "they must be of torch.bool"),
            (lambda: buffer.dispatch(**good | {"num_tokens_per_expert": experts}), ValueError, r"it must be \[experts\]"),
            (lambda: buffer.dispatch(**good | {"topk_weights": None}), ValueError, "one of topk_idx and topk_weights is missing"),
            (lambda: buffer.dispatch(**good | {"topk_idx": experts[:1]}), ValueError, "topk_weights has the shape"),
            (lambda: buffer.dispatch(**good, expert_alignment=0), ValueError, "expert_alignment is 0; it must be 1 or more"),
            (lambda: buffer.dispatch(**good, num_worst_tokens=1), ValueError, "num_worst_tokens is 1"),
            (lambda: buffer.dispatch(**good | {"num_tokens_per_rdma_rank": experts}), ValueError,
             "the ranks are on one node" if node_of(npes - 1) == 0 else None),
            (lambda: buffer.dispatch(good["x"], handle=(1, 2)), TypeError, "handle is tuple; pass what dispatch"),
            (lambda: buffer.dispatch(good["x"], handle=handle, topk_idx=experts), ValueError, "a handle stands for tokens that travel alone"),
            (lambda: buffer.dispatch(good["x"][:2], handle=handle), ValueError, r"x has the shape \[2, 128\]"),
            (lambda: buffer.combine(good["x"][:0], handle) if handle.route.received else None, ValueError, r"x has the shape \[0, 128\]"),
            (lambda: buffer.combine(good["x"], None), TypeError, "handle is NoneType")):
        if text is None:  # well in this job
            continue
        with pytest.raises(kind, match=text):
            call()
    assert gpu.get(buffer.dispatch(good["x"], handle=handle)[0]).shape == (handle.route.received, HIDDEN)


def test_a_destroyed_buffer(group, gpu, me, npes):  # noqa: F811
    buffer = deep_ep.Buffer(group, num_nvl_bytes=nbytes_for(npes))
    buffer.destroy()
    for call in (lambda: buffer.dispatch(None), lambda: buffer.combine(None, None), lambda: buffer.get_dispatch_layout(None, 1)):
        with pytest.raises(RuntimeError, match="this buffer was destroyed"):
            call()


def test_the_hint_is_enough(npes):
    config = deep_ep.Buffer.get_dispatch_config(npes)
    near, more = config.get_nvl_buffer_size_hint(2 * HIDDEN, npes), config.get_rdma_buffer_size_hint(2 * HIDDEN, npes)
    assert near + more == nbytes_for(npes, 4096) and (more > 0) == _nodes.are_between(npes)


@pytest.mark.parametrize("told,between", [({}, False), ({"LOCAL_WORLD_SIZE": "8"}, False), ({"LOCAL_WORLD_SIZE": "4"}, True), ({"SHMEM_NODE_SIZE": "2"}, True),
                                          ({"LOCAL_WORLD_SIZE": "many"}, False)])
def test_the_environment_tells_where_ranks_are(told, between, monkeypatch):
    for name in ("LOCAL_WORLD_SIZE", "SHMEM_NODE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert _nodes.are_between(8) == between and _nodes.are_between(9)
