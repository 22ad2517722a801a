# SPDX-License-Identifier: BSD-3-Clause
"""Every collective of torch.distributed, against what gloo makes of the same tensors."""
import pytest
import torch
import torch.distributed as dist

KINDS = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.uint8, torch.int8]
#: Elements of a tensor: none, few, an odd number, and more than a chunk of staging memory.
SIZES = [0, 1, 7, 1000, 300_001]


def numbers(size, dtype, me):
    """Small whole numbers, which every type holds, and whose sums are exact."""
    return ((torch.arange(size) + me) % 5 + 1).to(dtype)


def both(call, device, gloo, *tensors):
    """Runs call(group, *copies) by both backends; returns the copies of each, on the CPU."""
    found = []
    for group, place in ((None, device), (gloo, "cpu")):
        copies = [[part.to(place, copy=True) for part in tensor] if isinstance(tensor, list) else tensor.to(place, copy=True)
                  for tensor in tensors]
        call(group, *copies)
        found.append([[part.cpu() for part in copy] if isinstance(copy, list) else copy.cpu() for copy in copies])
    return found


def assert_both(call, device, gloo, *tensors):
    ours, theirs = both(call, device, gloo, *tensors)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        pairs = list(zip(mine, other)) if isinstance(mine, list) else [(mine, other)]
        for one, two in pairs:
            assert one.dtype == two.dtype and torch.equal(one, two)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_all_gather(device, gloo, me, npes, size, dtype):
    parts = [torch.zeros(size, dtype=dtype) for _ in range(npes)]
    assert_both(lambda group, parts, mine: dist.all_gather(parts, mine, group=group), device, gloo, parts,
                numbers(size, dtype, me))
    assert_both(lambda group, whole, mine: dist.all_gather_into_tensor(whole, mine, group=group), device, gloo,
                torch.zeros(size * npes, dtype=dtype), numbers(size, dtype, me))


def test_all_gather_in_place(device, me, npes):
    whole = torch.zeros(npes, 1000, device=device)
    whole[me] = me + 1
    dist.all_gather_into_tensor(whole, whole[me])
    assert torch.equal(whole.cpu(), torch.arange(1., npes + 1).repeat_interleave(1000).view(npes, -1))


@pytest.mark.parametrize("op", ["SUM", "PRODUCT", "MIN", "MAX"])
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_all_reduce(device, gloo, me, size, dtype, op):
    assert_both(lambda group, mine: dist.all_reduce(mine, op=getattr(dist.ReduceOp, op), group=group), device, gloo,
                numbers(size, dtype, me))


@pytest.mark.parametrize("op", ["BAND", "BOR", "BXOR"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
def test_all_reduce_of_bits(device, gloo, me, dtype, op):
    assert_both(lambda group, mine: dist.all_reduce(mine, op=getattr(dist.ReduceOp, op), group=group), device, gloo,
                numbers(1000, dtype, me))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_averages_and_factors(device, me, npes, dtype):
    average, scaled = numbers(4000, dtype, me).to(device), numbers(4000, dtype, me).to(device)
    operands = torch.stack([numbers(4000, dtype, rank) for rank in range(npes)]).float()
    dist.all_reduce(average, op=dist.ReduceOp.AVG)
    dist.all_reduce(scaled, op=dist._make_nccl_premul_sum(0.5))
    assert torch.allclose(average.cpu(), (operands.sum(0) / npes).to(dtype))
    assert torch.allclose(scaled.cpu(), (operands.sum(0) * 0.5).to(dtype))


def test_booleans(device, me):
    for op, expected in ((dist.ReduceOp.MAX, True), (dist.ReduceOp.MIN, False), (dist.ReduceOp.SUM, True)):
        flags = torch.tensor([me == 0, me != 0], device=device)
        dist.all_reduce(flags, op=op)
        assert flags.tolist() == [expected] * 2


def test_complex_numbers(device, gloo, me):
    mine = torch.complex(numbers(100, torch.float32, me), numbers(100, torch.float32, me + 1))
    assert_both(lambda group, mine: dist.all_reduce(mine, group=group), device, gloo, mine)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_reduce_scatter(device, me, npes, size, dtype):
    """gloo has it for some types only, so the expected values are computed here."""
    operands = [numbers(size * npes, dtype, rank) for rank in range(npes)]
    expected = sum(operands[1:], operands[0]).view(npes, -1)[me]
    part = torch.zeros(size, dtype=dtype, device=device)
    dist.reduce_scatter_tensor(part, operands[me].to(device))
    assert torch.equal(part.cpu(), expected)
    part.zero_()
    dist.reduce_scatter(part, list(operands[me].to(device).view(npes, -1)))
    assert torch.equal(part.cpu(), expected)


def test_reduce_scatter_averages(device, me, npes):
    operands = [numbers(100 * npes, torch.float32, rank) for rank in range(npes)]
    expected = (sum(operands) / npes).view(npes, -1)[me]
    part = torch.zeros(100, device=device)
    dist.reduce_scatter_tensor(part, operands[me].to(device), op=dist.ReduceOp.AVG)
    assert torch.allclose(part.cpu(), expected)


@pytest.mark.parametrize("size", SIZES)
def test_broadcast_reduce_gather_scatter(device, gloo, me, npes, size):
    for root in range(npes):
        mine, on_root = numbers(size, torch.float32, me), me == root
        parts = [torch.zeros(size) for _ in range(npes)]
        assert_both(lambda group, mine: dist.broadcast(mine, root, group=group), device, gloo, mine)
        ours, theirs = both(lambda group, mine: dist.reduce(mine, root, group=group), device, gloo, mine)
        assert torch.equal(ours[0], theirs[0] if on_root else mine)
        assert_both(lambda group, parts, mine: dist.gather(mine, parts if on_root else None, root, group=group), device, gloo,
                    parts, mine)
        sources = [numbers(size, torch.float32, me + rank) for rank in range(npes)]
        assert_both(lambda group, sources, mine: dist.scatter(mine, sources if on_root else None, root, group=group), device,
                    gloo, sources, torch.zeros(size))


@pytest.mark.parametrize("size", [1, 100, 100_001])
def test_all_to_all_single(device, gloo, me, npes, size):
    assert_both(lambda group, out, mine: dist.all_to_all_single(out, mine, group=group), device, gloo,
                torch.zeros(size * npes), numbers(size * npes, torch.float32, me))


def test_all_to_all_with_split_sizes(device, gloo, me, npes):
    """Rank r sends r + k rows to rank k, so ranks with equal numbers send nothing to themselves but 2 r rows."""
    sent, received = [me + rank for rank in range(npes)], [rank + me for rank in range(npes)]
    rows = numbers(sum(sent) * 3, torch.float32, me).view(-1, 3)
    assert_both(lambda group, out, mine: dist.all_to_all_single(out, mine, received, sent, group=group), device, gloo,
                torch.zeros(sum(received), 3), rows)


def test_all_to_all_of_lists(device, me, npes):
    inputs = [torch.full((me + rank + 1,), 10. * me + rank, device=device) for rank in range(npes)]
    outputs = [torch.zeros(me + rank + 1, device=device) for rank in range(npes)]
    dist.all_to_all(outputs, inputs)
    for rank, output in enumerate(outputs):
        assert (output == 10 * rank + me).all()


def test_tensors_that_are_not_contiguous(device, me, npes):
    square = torch.full((4, 6), me + 1., device=device).t()
    dist.all_reduce(square)
    assert (square == sum(range(1, npes + 1))).all()
    wide = torch.zeros(8, 2, device=device)[:, 0]
    dist.broadcast(wide.fill_(me), 1)
    assert (wide == 1).all()


def test_several_tensors_at_once(device, me, npes):
    tensors = [torch.full((size,), me + 1., device=device) for size in (3, 40_000)]
    with dist.distributed_c10d._coalescing_manager(device=torch.device(device)):
        for tensor in tensors:
            dist.all_reduce(tensor)
    assert all((tensor == sum(range(1, npes + 1))).all() for tensor in tensors)
    gathered = [torch.zeros(size * npes, device=device) for size in (3, 40_000)]
    with dist.distributed_c10d._coalescing_manager(device=torch.device(device)):
        for whole, tensor in zip(gathered, tensors):
            dist.all_gather_into_tensor(whole, tensor)
    assert all((whole == sum(range(1, npes + 1))).all() for whole in gathered)


def test_objects(npes, me):
    gathered = [None] * npes
    dist.all_gather_object(gathered, {"rank": me, "text": "x" * me})
    assert gathered == [{"rank": rank, "text": "x" * rank} for rank in range(npes)]
    told = [me, "from"]
    dist.broadcast_object_list(told, src=npes - 1)
    assert told == [npes - 1, "from"]


def test_functional_collectives(device, me, npes):
    """Those of DTensor, which call the group from C++."""
    from torch.distributed import _functional_collectives as functional
    mine = torch.full((4,), me + 1., device=device)
    group = dist.group.WORLD
    assert (functional.all_reduce(mine, "sum", group) == sum(range(1, npes + 1))).all()
    assert functional.all_gather_tensor(mine, 0, group).tolist() == [rank + 1. for rank in range(npes) for _ in range(4)]
    scattered = functional.reduce_scatter_tensor(torch.ones(4 * npes, device=device), "sum", 0, group)
    assert (scattered == npes).all() and scattered.shape == (4,)
    swapped = functional.all_to_all_single(torch.full((npes,), float(me), device=device), None, None, group)
    assert swapped.tolist() == list(range(npes))
    assert (functional.broadcast(mine, 0, group) == 1).all()
