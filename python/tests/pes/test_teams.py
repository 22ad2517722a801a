# SPDX-License-Identifier: BSD-3-Clause
import threading
import time

import pytest

import railshmem
from railshmem import Team, _core
from railshmem._together import together


def test_the_world_has_all_pes(me, npes):
    world = Team.world()
    assert (world.my_pe(), world.n_pes()) == (me, npes)
    world.sync()


def test_pes_of_one_host_share(npes):
    assert Team.shared().n_pes() == npes


def test_a_split_counts_anew_and_translates(me, npes):
    reverse = Team.world().split_strided(npes - 1, -1, npes)
    assert reverse.my_pe() == npes - 1 - me
    assert reverse.translate(0, Team.world()) == npes - 1
    reverse.sync()
    reverse.destroy()


def test_who_is_not_in_a_split_gets_none(me):
    first = Team.world().split_strided(0, 1, 1)
    assert (first is not None) == (me == 0)
    if me == 0:
        assert first.n_pes() == 1
        first.destroy()


def test_who_is_in_no_other_team_translates_to_none(me, npes):
    first = Team.world().split_strided(0, 1, 1)
    if me == 0:
        assert Team.world().translate(npes - 1, first) == (0 if npes == 1 else None)
        first.destroy()


def test_rows_and_columns(me, npes):
    row, column = Team.world().split_2d(2)
    assert (row.my_pe(), column.my_pe()) == (me % 2, me // 2)
    row.destroy()
    column.destroy()


@pytest.mark.parametrize("start, stride, size", [(0, 1, 0), (-1, 1, 1), (0, 1, 1000), (0, -1, 2), (1000, 1, 1), (0, 0, 2)])
def test_members_that_there_are_not_raise(start, stride, size):
    with pytest.raises(ValueError, match="name members that the team world"):
        Team.world().split_strided(start, stride, size)


def test_a_destroyed_team_raises(npes):
    team = Team.world().split_strided(0, 1, npes)
    team.destroy()
    for call in (team.my_pe, team.n_pes, team.sync, team.destroy):
        with pytest.raises(RuntimeError, match="was destroyed"):
            call()


def test_predefined_teams_are_not_destroyed():
    with pytest.raises(ValueError, match="predefined"):
        Team.world().destroy()


def test_members_out_of_range_raise(npes):
    with pytest.raises(ValueError, match="members 0 to"):
        Team.world().translate(npes, Team.world())
    with pytest.raises(ValueError, match="xrange is 0"):
        Team.world().split_2d(0)


def test_teams_are_made_by_splits_only():
    with pytest.raises(TypeError):
        railshmem.Team()


def test_threads_exchange_words_on_two_teams_in_any_order(me, npes):
    """PE 0 begins with one team, the others with the other one."""
    teams = [Team.world().split_strided(0, 1, npes) for _ in range(2)]
    ended = []

    def exchange(number):
        for turn in range(3):
            told = _core.exchange_words("test", [number, 10 * me + turn] * npes, teams[number])
            assert told == [word for pe in range(npes) for word in (number, 10 * pe + turn)]
        ended.append(number)

    order = [0, 1] if me == 0 else [1, 0]
    threads = [threading.Thread(target=exchange, args=(number,), daemon=True) for number in order]
    for thread in threads:
        thread.start()
        time.sleep(0.2)  # so that the first one of each PE waits for the others
    for thread in threads:
        thread.join(20)
    assert sorted(ended) == [0, 1]
    for team in teams:
        team.destroy()


def test_a_step_that_one_member_cannot_take_raises_on_all(me, npes):
    def step():
        if me == npes - 1:
            raise OSError("no disk")
        return me

    with pytest.raises(OSError if me == npes - 1 else RuntimeError, match="no disk|another PE could not"):
        together("test", step)
    assert together("test", lambda: me) == me
