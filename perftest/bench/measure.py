# SPDX-License-Identifier: BSD-3-Clause
"""Figures of all suites: rounds in turns, so that what disturbs the machine for a while disturbs all alike."""
import sys
from typing import NamedTuple

import jobs
import stats
import suites


class Row(NamedTuple):
    unit: str
    reference: str  # what the ratio is to
    figure: stats.Figure


class Readings(NamedTuple):
    """A row of one library before it is a figure."""
    suite: suites.Suite
    unit: str
    pairs: list  # (value, floor) of each round; a floor of None: the program printed none


def in_turns(libraries, chosen, rounds, repetitions, seconds):
    """For each library {row name: Readings}. Floors print rows of their own, which are no figures."""
    found = [{} for _ in libraries]
    for turn in range(rounds):
        for suite in chosen:
            print(f"bench: round {turn + 1} of {rounds}: {suite.name}", file=sys.stderr)
            for library, readings in zip(libraries, found):
                for row in jobs.run(library, suite, repetitions, seconds):
                    if row["bench"].startswith("floor_"):
                        continue
                    one = readings.setdefault(jobs.name_of(suite, row), Readings(suite, row["unit"], []))
                    one.pairs.append((row["value"], row.get("floor")))
    return found


def join(found, more):
    """Rounds of a second measurement belong to the first one's rows."""
    for name, readings in more.items():
        found[name].pairs.extend(readings.pairs)


def figures(found):
    """Rows with a floor, whose unit is the row's, and those of the engine, which has none."""
    rows = {}
    for name, (suite, unit, pairs) in found.items():
        low = suites.low_is_good(unit)
        if all(floor for _, floor in pairs):
            rows[name] = Row(unit, "floor", stats.figure(pairs, low, low, suite.noise, suite.within_rounds))
        elif suite.name == "engine" and unit != "x":
            rows[name] = Row(unit, "none", stats.figure([(value, None) for value, _ in pairs], low, low, suite.noise))
    return rows


def beside(ours, peers):
    """Rows that both libraries have, ours to theirs, round by round."""
    rows = {}
    for name in ours.keys() & peers.keys():
        suite, unit, mine = ours[name]
        low = suites.low_is_good(unit)
        pairs = [(value, theirs) for (value, _), (theirs, _) in zip(mine, peers[name].pairs)]
        rows[f"openmpi.{name}"] = Row(unit, "Open MPI", stats.figure(pairs, low, low, suite.noise, suite.within_rounds))
    return rows
