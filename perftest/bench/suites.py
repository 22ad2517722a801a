# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: one Suite is one job of shmem_perf (or shmem_gpu_perf)."""
from typing import NamedTuple


class Suite(NamedTuple):
    name: str  # begins the names of its rows
    benches: list  # words for the command line
    settings: dict = {}  # environment
    pes: int = 2
    program: str = "shmem_perf"
    quick: bool = True  # also with --quick
    noise: float = 0.03  # the least: no time is repeatable to less on a machine that others use, too
    within_rounds: bool = False  # the figure is the median of the rounds' own ratios, not the ratio of the fast ends
    floors: dict = {}  # bench -> the bench of the job that is its floor; shmem_perf prints floors in the rows themselves


NETWORK = {"SHMEM_NODE_SIZE": "1", "SHMEM_TRANSPORT": "ofi"}
LATENCIES = ["put_lat", "get_lat", "amo_lat", "put_signal_pingpong"]

# How far runs lay apart on a virtual machine that did nothing else: single words, copies of 4 KiB and of 1 MiB, where two processes wait for each other, and
# long messages of a network. A word goes from one CPU to the other in 0.1 or 0.5 us, for minutes, as the machine below places them.
WORDS, PAGES, COPIES, LONG = 0.06, 0.25, 0.10, 0.20  # two runs whose words lie 8.5 % apart are level, so 10 % is found
LONG_TCP, CLOCK, PEERS = 0.40, 0.20, 0.35  # the engine has no reference and moves with the clock: its instructions show what time does not
WAITS = {"noise": 0.25, "within_rounds": True}
NETWORK_WAITS = {"noise": 0.15, "within_rounds": True}

HOST = [
    Suite("node", ["put_lat", "p_lat", "get_lat", "amo_lat", "put_rate", "p_rate", "--sizes", "8"], noise=WORDS),
    Suite("node.pages", ["put_lat", "get_lat", "put_bw", "get_bw", "--sizes", "4K", "--window", "16"], noise=PAGES),
    Suite("node.long", ["put_lat", "get_lat", "put_bw", "get_bw", "--sizes", "1M", "--window", "16"], noise=COPIES),
    Suite("node.waits", ["put_signal_pingpong", "barrier_lat", "--sizes", "8"], **WAITS),
    Suite("node.collectives", ["reduce_lat", "broadcast_lat", "fcollect_lat", "alltoall_lat", "reducescatter_lat", "--sizes", "8,64K"], **WAITS),
    Suite("engine", ["engine"], pes=1, quick=False, noise=CLOCK),
    Suite("shm", [*LATENCIES, "put_rate", "barrier_lat", "--sizes", "8"], {**NETWORK, "SHMEM_OFI_PROVIDER": "shm"}, **WAITS),
    Suite("shm.long", ["put_bw", "get_bw", "--sizes", "64K,1M"], {**NETWORK, "SHMEM_OFI_PROVIDER": "shm"}, quick=False, noise=LONG, within_rounds=True),
    Suite("tcp", [*LATENCIES, "put_rate", "barrier_lat", "--sizes", "8"], {**NETWORK, "SHMEM_OFI_PROVIDER": "tcp;ofi_rxm"}, **NETWORK_WAITS),
    Suite("tcp.long", ["put_bw", "get_bw", "--sizes", "64K,1M"], {**NETWORK, "SHMEM_OFI_PROVIDER": "tcp;ofi_rxm"}, quick=False, noise=LONG_TCP, within_rounds=True),
]


def of_kernels(name, floors, *words, **more):
    """A job of shmem_gpu_perf: its benches, their floors, and words for the command line."""
    return Suite(name, [*floors, *dict.fromkeys(floors.values()), *words], program="shmem_gpu_perf", floors=floors, **more)


GPU = [
    of_kernels("words", {"put_lat": "floor_store", "p_lat": "floor_store", "get_lat": "floor_load", "g_lat": "floor_load", "amo_lat": "floor_atomic"},
               "--scope", "thread", "--sizes", "8"),
    of_kernels("waits", {"signal_pingpong": "floor_flag", "put_signal_pingpong": "floor_flag"}, "--scope", "thread", "--sizes", "8", noise=0.05),
    of_kernels("long", {"put_bw": "floor_copy_kernel", "get_bw": "floor_read_kernel"}, "--scope", "block", "--ctas", "32", "--threads", "1024", "--sizes", "1M,64M"),
    of_kernels("collectives", {name: "floor_exchange_kernel" for name in ("allgather", "reducescatter", "allreduce", "alltoall")},
               "--graph", "--sizes", "64K,1M,64M", noise=0.05),
]
# What Open MPI's OpenSHMEM 1.4 runs, too.
PEER = [
    Suite("node", ["put_lat", "p_lat", "get_lat", "amo_lat", "put_rate", "--sizes", "8"], noise=PEERS),
    Suite("node.long", ["put_lat", "put_bw", "get_bw", "--sizes", "4K,1M", "--window", "16"], noise=PEERS),
    Suite("node.waits", ["barrier_lat"], noise=PEERS, within_rounds=True),
]


def low_is_good(unit):
    return unit not in ("GB/s", "Mops/s", "x")
