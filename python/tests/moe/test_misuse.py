# SPDX-License-Identifier: BSD-3-Clause
"""Every mistake with railshmem.moe is an exception that says what to do, before anything is sent."""
import pytest
import torch

import railshmem
import railshmem.moe

GOOD = dict(topk=2, hidden=16, max_tokens=4)


@pytest.fixture
def exchange(npes):
    exchange = railshmem.moe.Exchange(2 * npes, **GOOD)
    yield exchange
    exchange.free()


@pytest.fixture
def good(gpu):
    return [gpu.put(torch.zeros(3, 16, dtype=torch.bfloat16)), gpu.put(torch.zeros(3, 2, dtype=torch.int64)),
            gpu.put(torch.ones(3, 2))]


@pytest.mark.parametrize("change, kind, text", [
    (dict(experts=0), ValueError, "experts is 0; it must be 1 to 1024"),
    (dict(topk=33), ValueError, "topk is 33; it must be 1 to 32"),
    (dict(hidden=12), ValueError, "hidden is 12; it must be a multiple of 8"),
    (dict(fp8=True), ValueError, "hidden is 16; with fp8 and the scale_type float it must be a multiple of 128"),
    (dict(fp8=True, hidden=256, scale_type="ue8m0"), ValueError, "with fp8 and the scale_type ue8m0 it must be a multiple of 512"),
    (dict(scale_type="int"), ValueError, "scale_type is 'int'; accepted: float, power, ue8m0"),
    (dict(max_tokens=1 << 20), ValueError, "max_tokens is 1048576"),
    (dict(max_tokens=2.5), TypeError, "max_tokens is 2.5; it must be a number"),
    (dict(multiprocessors=-1), ValueError, "multiprocessors is -1"),
    (dict(dtype=torch.float32), TypeError, "dtype is torch.float32; it must be torch.bfloat16 or torch.float16"),
    (dict(team=railshmem, group=railshmem), ValueError, "team and group are given"),
    (dict(workspace=torch.zeros(8)), TypeError, "workspace is in the memory of the CPU"),
], ids=str)
def test_sizes(npes, change, kind, text):
    with pytest.raises(kind, match=text):
        railshmem.moe.Exchange(**{"experts": 2 * npes, **GOOD, **change})


def test_experts_that_members_do_not_divide(npes):
    if npes == 1:
        pytest.skip("one member divides everything")
    with pytest.raises(ValueError, match=f"which the team's {npes} members do not divide"):
        railshmem.moe.Exchange(2 * npes + 1, **GOOD)


def test_a_workspace_that_is_not_symmetric(npes, gpu):
    with pytest.raises(ValueError, match="workspace is not symmetric"):
        railshmem.moe.Exchange(2 * npes, **GOOD, workspace=gpu.put(torch.zeros(1 << 16, dtype=torch.uint8)))


def test_arguments_of_dispatch(exchange, good, gpu):
    x, experts, weights = good
    for arguments, kind, text in (
            ((x[:, :8], experts), ValueError, r"x has the shape \[3, 8\]; it must be \[tokens, 16\]"),
            ((x.view(-1), experts), ValueError, r"x has the shape \[48\]"),
            ((gpu.put(torch.zeros(5, 16).bfloat16()), experts), ValueError, "x has 5 tokens; this exchange was made for 4"),
            (([1.0], experts), TypeError, "x is list; it must be a tensor"),
            ((x, experts[:2]), ValueError, r"experts has the shape \[2, 2\]; it must be \[3, 2\]"),
            ((x, experts, weights.view(2, 3)), ValueError, r"weights has the shape \[2, 3\]"),
            ((x, None), TypeError, "experts is NoneType; it must be a tensor"),
            ((gpu.put(torch.zeros(3, 16)), experts), TypeError, "x has elements of float32; they must be of bfloat16"),
            ((x, gpu.put(torch.zeros(3, 2, dtype=torch.int32))), TypeError, "experts has elements of int32; they must be of int64"),
            ((x, experts, gpu.put(torch.zeros(3, 2).half())), TypeError, "weights has elements of float16; they must be of float32"),
            ((torch.zeros(3, 16).bfloat16(), experts), TypeError, r"x is in the memory of the CPU; move it with to\(\)"),
            ((gpu.put(torch.zeros(16, 3).bfloat16()).t(), experts), ValueError, "x is not contiguous"),
            ((gpu.put(torch.zeros(56).bfloat16())[1:49].view(3, 16), experts), ValueError, "x does not begin at a multiple of 16")):
        with pytest.raises(kind, match="dispatch: " + text):
            exchange.dispatch(*arguments)
    room = exchange.room(layout=True)
    for into, kind, text in ((room._replace(rows=x), ValueError, "into.rows has the shape"), (room._replace(counts=x), ValueError, "into.counts has the shape"),
                             (room._replace(scales=x), ValueError, "into.scales is given, and this exchange was made without fp8"),
                             (room._replace(layout=room.layout._replace(totals=x)), TypeError, "totals has elements of bfloat16"),
                             ((x, None, x), TypeError, r"into is tuple; it must be what room\(\) returns")):
        with pytest.raises(kind, match=text):
            exchange.dispatch(x, experts, into=into)


def test_calls_at_the_wrong_time(exchange, good, gpu):
    results = gpu.put(torch.zeros(2, exchange.capacity, 16).bfloat16())
    with pytest.raises(RuntimeError, match=r"no dispatch\(\) came before"):
        exchange.combine(results)
    with pytest.raises(RuntimeError, match="nothing is to be completed"):
        exchange.complete()
    exchange.dispatch(*good, hook=True)
    for call in (lambda: exchange.dispatch(*good), lambda: exchange.combine(results)):
        with pytest.raises(RuntimeError, match=r"hook=True; call complete\(\) first"):
            call()
    exchange.complete()
    with pytest.raises(ValueError, match="results has the shape"):
        exchange.combine(results[:1])
    with pytest.raises(ValueError, match=r"out has the shape \[2, 16\]; it must be \[3, 16\]"):
        exchange.combine(results, out=good[0][:2])
    out = exchange.combine(results, hook=True)
    exchange.complete()
    assert not gpu.get(out).any()
    with pytest.raises(RuntimeError, match="the dispatch before has its combine; dispatch again, or make the exchange with late_weights"):
        exchange.combine(results)


def test_late_weights(exchange, good, npes, gpu):
    late = railshmem.moe.Exchange(2 * npes, **GOOD, late_weights=True)
    x, experts, weights = good
    results = gpu.put(torch.zeros(2, exchange.capacity, 16).bfloat16())
    with pytest.raises(ValueError, match="weights is given, and this exchange was made with late_weights; give it to combine"):
        late.dispatch(x, experts, weights)
    for one, wrong, text in ((late, None, "missing, and this exchange was made with late"), (exchange, weights, "given, and this exchange was made without")):
        one.dispatch(x, experts)
        with pytest.raises(ValueError, match="combine: weights is " + text):
            one.combine(results, wrong)
    with pytest.raises(ValueError, match=r"weights has the shape \[2, 2\]; it must be \[3, 2\]"):
        late.combine(results, weights[:2])
    late.combine(results, weights)
    exchange.combine(results)
    late.free()


def test_after_free(npes, good):
    exchange = railshmem.moe.Exchange(2 * npes, **GOOD)
    assert f"of {2 * npes} experts on {npes} PEs" in repr(exchange)
    exchange.free()
    for call in (lambda: exchange.dispatch(*good), exchange.free):
        with pytest.raises(RuntimeError, match="this exchange was freed; make a new one"):
            call()


def test_x_that_is_scaled(exchange, good, npes, gpu):
    with pytest.raises(ValueError, match="x_scaled is given without fp8=True and scale_type='float'"):
        railshmem.moe.Exchange(2 * npes, **GOOD, x_scaled=True)
    x, experts, weights = good
    with pytest.raises(ValueError, match="x_scales is given, and this exchange was made without x_scaled"):
        exchange.dispatch(x, experts, weights, x_scales=weights)
    sizes = {**GOOD, "hidden": 128}
    scaled = railshmem.moe.Exchange(2 * npes, **sizes, fp8=True, x_scaled=True)
    values = gpu.put(torch.zeros(len(x), 128).to(torch.float8_e4m3fn))
    for given, kind, text in (((values, None), ValueError, "x_scales is missing, and this exchange was made with x_scaled"),
                              ((values, weights[:, :0]), ValueError, "x_scales has the shape"),
                              ((gpu.put(torch.zeros(len(x), 128).bfloat16()), gpu.put(torch.ones(len(x), 1))), TypeError, "x has elements of bfloat16; they must be of float8")):
        with pytest.raises(kind, match=text):
            scaled.dispatch(given[0], experts, weights, x_scales=given[1])
    scaled.free()
