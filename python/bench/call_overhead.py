# SPDX-License-Identifier: BSD-3-Clause
"""Times short calls of railshmem.numpy between two PEs; what C calls take, shmem_perf tells.

    oshrun -n 2 python python/bench/call_overhead.py
    oshrun -n 2 shmem_perf put_lat fcollect_lat reduce_double_lat barrier_lat --sizes 8

PE 0 prints the median of ROUNDS means, in microseconds a call. Run both in turns, since machines are noisy.
"""
import statistics
import time

import numpy as np

import railshmem
import railshmem.numpy as rn

ROUNDS, CALLS = 21, 2000


def main():
    railshmem.init()
    me, npes = railshmem.my_pe(), railshmem.n_pes()
    one, all_of_them = rn.zeros(1, np.float64), rn.zeros(npes, np.float64)
    ordinary = np.ones(1)
    calls = {
        "put of 8 bytes": lambda: rn.put(one, ordinary, (me + 1) % npes),
        "all_gather of 8 bytes": lambda: rn.all_gather(all_of_them, one),
        "all_reduce of one double": lambda: rn.all_reduce(one, one),
        "barrier_all": railshmem.barrier_all,
    }
    for name, call in calls.items():
        means = []
        for _ in range(ROUNDS):
            railshmem.barrier_all()
            began = time.perf_counter()
            for _ in range(CALLS):
                call()
            means.append((time.perf_counter() - began) / CALLS * 1e6)
        railshmem.barrier_all()
        if me == 0:
            print(f"{name:26} {statistics.median(means):8.3f} us")
    rn.free(one)
    rn.free(all_of_them)
    railshmem.finalize()


if __name__ == "__main__":
    main()
