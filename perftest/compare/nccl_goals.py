# SPDX-License-Identifier: BSD-3-Clause
"""How fast collectives on a stream should be, on two and on eight H200s. nccl_compare.py holds measurements to it."""
from typing import NamedTuple

KI, MI, GI = 1 << 10, 1 << 20, 1 << 30

# What a limit is compared with.
US = "us"  # our time
NCCL = "of NCCL"  # our time by NCCL's, which is the better of plain and window
ENGINE = "of the copy engine"  # the copy engine's time by ours
KERNEL = "of the copy kernel"  # the copy kernel's time by ours
AT_LEAST = (ENGINE, KERNEL)  # the others are limits from above


class Goal(NamedTuple):
    benches: tuple
    order: str  # graph, stream, or both
    low: int  # bytes of the full vector, from
    high: int  # up to
    measure: str
    limit: float

    def text(self):
        sign = ">=" if self.measure in AT_LEAST else "<="
        return f"{sign} {self.limit:g} {self.measure}"

    def met(self, values):
        """Whether the line meets the goal; None where something was not measured. values: measure -> value."""
        value = values.get(self.measure)
        if value is None:
            return None
        return value >= self.limit if self.measure in AT_LEAST else value <= self.limit


def at(benches, nbytes, microseconds):
    return Goal(benches, "graph", nbytes, nbytes, US, microseconds)


MOVES, SUMS = ("allgather", "reducescatter"), ("allreduce",)
EVERY = MOVES + SUMS + ("alltoall",)
# All-reduces of 16 MiB and more also stay below the time that they took before the planner.
GOALS = [
    at(MOVES, 8 * KI, 3.0), at(MOVES, 64 * KI, 3.2), at(MOVES, 256 * KI, 3.8), at(MOVES, MI, 6.2),
    at(SUMS, 8 * KI, 3.0), at(SUMS, 64 * KI, 3.4), at(SUMS, 256 * KI, 4.6), at(SUMS, MI, 9.2), at(SUMS, 4 * MI, 19),
    at(SUMS, 16 * MI, 59.5), at(SUMS, 64 * MI, 207), at(SUMS, 256 * MI, 789), at(SUMS, GI, 3113),
    Goal(("allgather",), "graph", 16 * MI, 64 * MI - 1, ENGINE, 0.8),
    Goal(("allgather",), "graph", 64 * MI, GI, ENGINE, 0.93),
    Goal(("allgather",), "graph", GI, GI, NCCL, 0.72),
    Goal(("reducescatter",), "graph", 64 * MI, GI, KERNEL, 0.93),
    Goal(SUMS, "graph", 16 * MI, GI, NCCL, 0.9),
    Goal(EVERY, "stream", 0, MI, NCCL, 0.75),
    Goal(("alltoall",), "graph", 0, GI, NCCL, 0.8),
    Goal(("alltoall",), "stream", MI + 1, GI, NCCL, 0.8),
]
# Of eight PEs, one H200 each. The best published all-reduces take 6.0, 8.2 and 14.0 us there.
GOALS_OF_EIGHT = [
    Goal(("allgather",), "graph", 8 * KI, MI, NCCL, 0.6), at(("allgather",), MI, 8.0),
    Goal(("allgather",), "graph", 256 * MI, GI, NCCL, 0.9), Goal(("allgather",), "graph", 256 * MI, GI, ENGINE, 0.95),
    Goal(("reducescatter",), "graph", 64 * MI, GI, NCCL, 0.97),
    at(SUMS, 8 * KI, 4.0), at(SUMS, 64 * KI, 5.5), at(SUMS, MI, 12.0), Goal(SUMS, "graph", 8 * KI, MI, NCCL, 0.6),
]
REGISTERED = 0.03  # share by which registered memory may differ from the heap
UNREGISTERED = 0.6  # of the heap's speed at least
BESIDE = 1.01  # the product beside our all-gathers, by the product beside bare copies


def goals_of(bench, order, nbytes, pes, h200):
    """Goals of one line; those of eight PEs are theirs alone, and limits in us are for H200s: two, or eight."""
    return [goal for goal in (GOALS_OF_EIGHT if pes == 8 else GOALS)
            if bench in goal.benches and goal.order == order and goal.low <= nbytes <= goal.high
            and (goal.measure != US or (h200 and pes in (2, 8)))]
