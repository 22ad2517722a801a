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


NETWORK = {"SHMEM_NODE_SIZE": "1", "SHMEM_TRANSPORT": "ofi"}
LATENCIES = ["put_lat", "get_lat", "amo_lat", "put_signal_pingpong"]

# How far runs lay apart on a machine that did nothing else: where two processes wait for each other, and for long messages of a network.
WAITS, LONG = 0.10, 0.20

HOST = [
    Suite("node", ["put_lat", "p_lat", "get_lat", "amo_lat", "put_rate", "p_rate", "--sizes", "8"]),
    Suite("node.long", ["put_lat", "get_lat", "put_bw", "get_bw", "--sizes", "4K,1M", "--window", "16"]),
    Suite("node.waits", ["put_signal_pingpong", "barrier_lat", "--sizes", "8"], noise=WAITS),
    Suite("node.collectives", ["reduce_lat", "broadcast_lat", "fcollect_lat", "alltoall_lat", "reducescatter_lat", "--sizes", "8,64K"], noise=WAITS),
    Suite("engine", ["engine"], pes=1, quick=False),
    Suite("shm", [*LATENCIES, "put_rate", "barrier_lat", "--sizes", "8"], {**NETWORK, "SHMEM_OFI_PROVIDER": "shm"}, noise=WAITS),
    Suite("shm.long", ["put_bw", "get_bw", "--sizes", "64K,1M"], {**NETWORK, "SHMEM_OFI_PROVIDER": "shm"}, quick=False, noise=LONG),
    Suite("tcp", [*LATENCIES, "put_rate", "barrier_lat", "--sizes", "8"], {**NETWORK, "SHMEM_OFI_PROVIDER": "tcp;ofi_rxm"}, noise=WAITS),
    Suite("tcp.long", ["put_bw", "get_bw", "--sizes", "64K,1M"], {**NETWORK, "SHMEM_OFI_PROVIDER": "tcp;ofi_rxm"}, quick=False, noise=LONG),
]
GPU = [
    Suite("gpu", ["put_lat", "put_bw", "put_signal_pingpong", "--sizes", "8,1M"], program="shmem_gpu_perf"),
    Suite("gpu.collectives", ["allgather", "reducescatter", "allreduce", "alltoall", "--sizes", "64K,1M,64M"], program="shmem_gpu_perf"),
]
# What Open MPI's OpenSHMEM 1.4 runs, too.
PEER = [
    Suite("node", ["put_lat", "p_lat", "get_lat", "amo_lat", "put_rate", "--sizes", "8"], noise=0.05),
    Suite("node.long", ["put_lat", "put_bw", "get_bw", "--sizes", "4K,1M", "--window", "16"], noise=0.05),
    Suite("node.waits", ["barrier_lat"], noise=WAITS),
]


def low_is_good(unit):
    return unit not in ("GB/s", "Mops/s", "x")
