# SPDX-License-Identifier: BSD-3-Clause
import pytest

torch = pytest.importorskip("torch", reason="torch cannot be imported")

import railshmem.torch as rt
from railshmem import Team


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.bool, torch.int64], ids=str)
def test_a_put_arrives(tensors, device, settle, dtype, me, npes):
    t = tensors(4, 4, dtype=dtype)
    rt.put(t[1], torch.ones(4, device=device).to(dtype), (me + 1) % npes)
    rt.barrier(device=device)
    settle()
    assert t.float().tolist() == [[0.0] * 4, [1.0] * 4, [0.0] * 4, [0.0] * 4]


def test_a_get_brings(tensors, device, settle, me, npes):
    t = tensors(4, 4, fill=[[7.0 + me] * 4] * 4)
    rt.barrier(device=device)
    for pe in range(npes):
        here = torch.zeros(4, device=device)
        rt.get(here, t[2], pe)
        settle()
        assert here.tolist() == [7.0 + pe] * 4


def test_data_is_there_when_its_signal_is(tensors, device, settle, me, npes):
    t, signals = tensors(1 << 16), tensors(4, dtype=torch.int64)
    rt.put_signal(t, torch.full((1 << 16,), 5.0 + me, device=device), signals[1:2], 9, (me + 1) % npes)
    assert rt.wait_signal(signals[1:2], ">=", 9) == (None if device == "cuda" else 9)
    settle()
    assert (t == 5.0 + (me - 1) % npes).all().item()
    assert signals.tolist() == [0, 9, 0, 0]


def test_signals_add_up(tensors, device, npes):
    signals = tensors(2, dtype=torch.uint64)
    for pe in range(npes):
        rt.signal_op(signals[1:], 2, pe, "add")
    rt.wait_signal(signals[1:], "==", 2 * npes)
    rt.quiet(device=device)
    assert signals.view(torch.int64).tolist() == [0, 2 * npes]


def test_a_team_meets(tensors, device, settle, me, npes):
    team = Team.world().split_strided(0, 1, npes)
    t = tensors(1, dtype=torch.int32)
    rt.put(t, torch.tensor([me + 1], dtype=torch.int32, device=device), (me + 1) % npes)
    rt.barrier(team, device=device)
    settle()
    assert t.item() == (me - 1) % npes + 1
    team.destroy()


def test_a_parameter_is_a_tensor(tensors, device, settle, me, npes):
    t = tensors(3)
    rt.put(t, torch.nn.Parameter(torch.full((3,), 1.0 + me, device=device)), (me + 1) % npes)
    rt.barrier(device=device)
    settle()
    assert t.tolist() == [(me - 1) % npes + 1.0] * 3
