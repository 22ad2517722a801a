# SPDX-License-Identifier: BSD-3-Clause
import functools
import operator
import os

import pytest

torch = pytest.importorskip("torch", reason="torch cannot be imported")

import railshmem
import railshmem.torch as rt
from railshmem import Team

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
SMALL = [torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
REALS = [torch.float32, torch.float64, *SMALL]
COMPLEXES = [torch.complex64, torch.complex128]
TYPES_OF = {"sum": INTEGERS + REALS + COMPLEXES, "prod": INTEGERS + REALS + COMPLEXES + [torch.bool],
            "min": INTEGERS + REALS + [torch.bool], "max": INTEGERS + REALS + [torch.bool], "and": INTEGERS + [torch.bool],
            "or": INTEGERS + [torch.bool], "xor": INTEGERS + [torch.bool], "avg": REALS + COMPLEXES, "premul": REALS + COMPLEXES}
BINARY = {"sum": operator.add, "avg": operator.add, "premul": operator.add, "prod": operator.mul, "min": torch.minimum,
          "max": torch.maximum, "and": operator.and_, "or": operator.or_, "xor": operator.xor}
FACTOR = 0.25
MOVED = [torch.bfloat16, torch.float8_e4m3fn, torch.int64, torch.bool, torch.complex64]


def numbers(pe, n, dtype):
    """Small numbers whose sums and products by few PEs every type holds."""
    values = torch.tensor([(pe + i) % 3 + 1 for i in range(n)])
    return (values % 2).bool() if dtype == torch.bool else values.to(dtype)


def expected(op, dtype, npes, n):
    wide = torch.float32 if dtype in SMALL else dtype
    operands = [numbers(pe, n, dtype).to(wide) for pe in range(npes)]
    if op == "premul":
        operands = [operand * FACTOR for operand in operands]
    total = functools.reduce(BINARY[op], operands)
    return (total / npes if op == "avg" else total).to(dtype)


def equal(a, b):
    return torch.equal(a.cpu().view(torch.uint8), b.cpu().view(torch.uint8))


@pytest.mark.parametrize("dtype", MOVED, ids=str)
def test_all_gather(tensors, dtype, me, npes):
    output, input = tensors(npes, 3, dtype=dtype), tensors(3, dtype=dtype, fill=numbers(me, 3, dtype))
    assert rt.all_gather(output, input) is None
    assert equal(output, torch.stack([numbers(pe, 3, dtype) for pe in range(npes)]))


def test_all_gather_in_place(tensors, me, npes):
    output = tensors(npes, 5)
    output[me] = me + 1
    rt.all_gather(output, output[me])
    assert output.tolist() == [[pe + 1.0] * 5 for pe in range(npes)]


def test_all_gather_into_a_list(tensors, device, me, npes):
    input = tensors(2, fill=[me, 10.0 * me])
    outputs = [torch.zeros(2, device=device) for _ in range(npes)]
    rt.all_gather(outputs, input)
    assert [output.tolist() for output in outputs] == [[pe, 10.0 * pe] for pe in range(npes)]


def test_all_to_all(tensors, me, npes):
    input = tensors(npes, 2, fill=[[10.0 * me + pe] * 2 for pe in range(npes)])
    output = tensors(npes, 2)
    rt.all_to_all(output, input)
    assert output.tolist() == [[10.0 * pe + me] * 2 for pe in range(npes)]


def test_all_to_all_of_lists(tensors, device, me, npes):
    inputs = [tensors(2, dtype=torch.int32, fill=[100 * me + pe, 7]) for pe in range(npes)]
    outputs = [torch.zeros(2, dtype=torch.int32, device=device) for _ in range(npes)]
    rt.all_to_all(outputs, inputs)
    assert [output.tolist() for output in outputs] == [[100 * pe + me, 7] for pe in range(npes)]


@pytest.mark.parametrize("dtype", [torch.int16, torch.float8_e5m2, torch.float64], ids=str)
def test_all_to_all_with_split_sizes(tensors, dtype, me, npes):
    """PE a sends (a + b) % 3 rows of two elements to PE b."""
    sent, got = [(me + pe) % 3 for pe in range(npes)], [(pe + me) % 3 for pe in range(npes)]
    most = 2 * npes
    rows = [[float(me), float(pe)] for pe in range(npes) for _ in range(sent[pe])]
    input, output = tensors(most, 2, dtype=dtype)[:sum(sent)], tensors(most, 2, dtype=dtype)[:sum(got)]
    input.copy_(torch.tensor(rows).view(-1, 2))
    rt.all_to_all(output, input, output_split_sizes=got, input_split_sizes=sent)
    assert output.float().tolist() == [[float(pe), float(me)] for pe in range(npes) for _ in range(got[pe])]


def test_a_member_with_other_split_sizes_keeps_nobody(tensors, device, me, npes):
    """PE 0 expects more of the last PE than that sends."""
    if device != "cpu":
        pytest.skip("collectives on streams find it in a kernel")
    got = [1] * (npes - 1) + [1 + (me == 0)]
    input, output = tensors(npes), tensors(npes + 1)[:sum(got)]
    input.fill_(me)
    if me == 0:
        with pytest.raises(ValueError, match=f"member {npes - 1} sends 1 elements to this one, whose split sizes say 2"):
            rt.all_to_all(output, input, output_split_sizes=got, input_split_sizes=[1] * npes)
    else:
        rt.all_to_all(output, input, output_split_sizes=got, input_split_sizes=[1] * npes)
        assert output.tolist() == [float(pe) for pe in range(npes)]


def test_broadcast(tensors, me, npes):
    tensor = tensors(4, dtype=torch.bfloat16, fill=[float(me)] * 4)
    rt.broadcast(tensor, npes - 1)
    assert tensor.tolist() == [npes - 1.0] * 4


@pytest.mark.parametrize("op, dtype", [(op, dtype) for op, dtypes in TYPES_OF.items() for dtype in dtypes], ids=str)
def test_reductions_are_torchs(tensors, op, dtype, me, npes):
    if npes > 4 and op == "prod" and dtype in SMALL:
        pytest.skip("8 bits do not hold the product")
    want = expected(op, dtype, npes, 3 * npes)
    factor = FACTOR if op == "premul" else None
    input = tensors(3 * npes, dtype=dtype, fill=numbers(me, 3 * npes, dtype))
    output, part = tensors(3 * npes, dtype=dtype), tensors(3, dtype=dtype)
    rt.all_reduce(output, input, op, factor)
    rt.reduce_scatter(part, input, op, factor)
    assert equal(output, want)
    assert equal(part, want[3 * me:3 * me + 3])


def test_numbers_of_16_bits_are_rounded_once(tensors, device, npes):
    """256 + 1 is no bfloat16: rounded in each step, the ones of all PEs but the first would be lost. Of GPU memory nodes
    round their sums, and then the sum of these."""
    t = tensors(1, dtype=torch.bfloat16)
    t.fill_(256.0 if railshmem.my_pe() == 0 else 1.0)
    rt.all_reduce(t)
    values = torch.tensor([256.0] + [1.0] * (npes - 1))
    nodes = values.split(int(os.environ.get("SHMEM_NODE_SIZE", npes)) if device == "cuda" else npes)
    sums = torch.stack([node.sum().to(torch.bfloat16).float() for node in nodes])
    assert t.item() == sums.sum().to(torch.bfloat16).item()


def test_results_beyond_8_bits_become_the_largest_number(tensors, npes):
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        t = tensors(3, dtype=dtype, fill=torch.tensor([torch.finfo(dtype).max, 1.0, float("nan")]))
        rt.all_reduce(t)
        largest, number, none = t.float().tolist()
        assert (largest, number) == (torch.finfo(dtype).max, npes) and none != none


def test_a_long_vector_is_reduced_piece_by_piece(tensors, device, me, npes):
    n = 600_001
    t = tensors(n, dtype=torch.bfloat16, fill=torch.arange(n).remainder(7).to(torch.bfloat16) + me)
    rt.all_reduce(t, op="avg")
    want = sum(torch.arange(n).remainder(7).float() + pe for pe in range(npes)) / npes
    assert equal(t, want.to(torch.bfloat16))


def test_in_place(tensors, me, npes):
    for dtype in (torch.float32, torch.bfloat16):
        a, b = tensors(4, dtype=dtype, fill=[me + 1.0] * 4), tensors(npes, 2, dtype=dtype, fill=[[me + 1.0] * 2] * npes)
        rt.all_reduce(a)
        rt.reduce_scatter(b[me], b)
        total = float(npes * (npes + 1) // 2)
        assert a.tolist() == [total] * 4 and b[me].tolist() == [total] * 2


def test_reduce_scatter_from_a_list(tensors, me, npes):
    inputs = [tensors(2, fill=[float(me), float(k)]) for k in range(npes)]
    output = tensors(2)
    rt.reduce_scatter(output, inputs)
    assert output.tolist() == [sum(range(npes)), float(npes * me)]


def test_a_team_of_its_own(tensors, me, npes):
    reverse = Team.world().split_strided(npes - 1, -1, npes)
    input, output = tensors(1, fill=[float(me)]), tensors(npes)
    rt.all_gather(output, input, team=reverse)
    assert output.tolist() == [float(pe) for pe in reversed(range(npes))]
    averaged = tensors(1, dtype=torch.float16, fill=[float(me)])
    rt.all_reduce(averaged, op="avg", team=reverse)
    assert averaged.item() == (npes - 1) / 2
    gathered = [torch.zeros_like(input) for _ in range(npes)]
    rt.all_gather(gathered, input, team=reverse)
    assert [t.item() for t in gathered] == [float(pe) for pe in reversed(range(npes))]
    if input.is_cuda:
        torch.cuda.synchronize()
    reverse.destroy()


def test_async_calls_return_a_work(tensors, me, npes):
    t, output = tensors(3, fill=[me + 1.0] * 3), tensors(npes * 3)
    work = rt.all_reduce(t, async_op=True)
    assert isinstance(work, torch.distributed.Work)
    assert work.wait() is True
    t += 1
    later = rt.all_gather(output, t, async_op=True)
    rt.all_reduce(t, op="max")  # behind the other call of the team, for which nobody has waited
    later.wait()
    if t.is_cuda:
        torch.cuda.synchronize()
    assert work.is_completed() and later.is_completed() and later.is_success()
    assert output.tolist() == t.tolist() * npes == [npes * (npes + 1) / 2 + 1] * (3 * npes)


def test_calls_follow_each_other_without_barriers(tensors, me, npes):
    """A member that is late finds the others' memory as it was: they touch it only when it has come."""
    a, b = tensors(64), tensors(npes * 64)
    for turn in range(20):
        a.fill_(float(turn + me))
        rt.all_gather(b, a)
        assert b.view(npes, 64)[:, 0].tolist() == [float(turn + pe) for pe in range(npes)]
        b.zero_()
        rt.all_reduce(a)
        assert a[0].item() == turn * npes + sum(range(npes))
