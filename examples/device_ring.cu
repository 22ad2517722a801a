// SPDX-License-Identifier: BSD-3-Clause
//
// Ring: kernels hand a token from PE to PE, each adds its share. One launch on each PE lasts for all laps; the CPUs
// only wait. Every hop is a put with signal: a PE that sees the signal sees the token that came with it.
//   oshrun -n 4 ./device_ring [--laps 1000]
#include "gpu_example.h"

constexpr int kWords = 16;  // of the token

/// Run by one thread. `token` is where the token arrives, `arrived` the lap in which it arrived.
__global__ void pass_token(long* token, long* outgoing, uint64_t* arrived, int laps) {
  const int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
  for (int lap = 1; lap <= laps; ++lap) {
    // PE 0 begins a lap when the lap before has come round; each other PE when its left neighbour has passed the token
    // on.
    shmem_signal_wait_until(arrived, SHMEM_CMP_GE, me == 0 ? lap - 1 : lap);
    for (int i = 0; i < kWords; ++i) outgoing[i] = token[i] + me + 1;
    shmem_long_put_signal(token, outgoing, kWords, arrived, lap, SHMEM_SIGNAL_SET, next);
  }
  // PE 0's kernel ends when the last token has arrived too.
  if (me == 0) shmem_signal_wait_until(arrived, SHMEM_CMP_GE, laps);
}

int main(int argc, char** argv) {
  example::start();
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  const int laps = example::option(argc, argv, "--laps", 1000);
  example::demand(laps > 0, "--laps of 1 or more");

  long* const token = example::on_gpu<long>(kWords);
  long* const outgoing = example::on_gpu<long>(kWords);
  uint64_t* const arrived = example::on_gpu<uint64_t>(1);
  if (me == 0) {
    long first[kWords];
    for (int i = 0; i < kWords; ++i) first[i] = i;
    MUST(cudaMemcpy(token, first, sizeof first, cudaMemcpyHostToDevice));
  }
  shmem_barrier_all();

  const double began = example::seconds();
  pass_token<<<1, 1>>>(token, outgoing, arrived, laps);
  MUST(cudaGetLastError());
  MUST(cudaDeviceSynchronize());
  const double us = (example::seconds() - began) * 1e6;

  // In a lap PE p adds p + 1. The last token that PE p sees has all laps but the last behind it, and the PEs before p.
  // PE 0 sees the end of the last lap.
  const long whole_lap = static_cast<long>(npes) * (npes + 1) / 2;
  const long before_me = me == 0 ? whole_lap : static_cast<long>(me) * (me + 1) / 2;
  long seen[kWords], wrong = 0;
  MUST(cudaMemcpy(seen, token, sizeof seen, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kWords; ++i) wrong += seen[i] != i + (laps - 1) * whole_lap + before_me;

  if (me == 0)
    std::printf("device_ring: %d laps of %zu bytes round %d PEs, %.2f us a hop\n", laps, sizeof seen, npes,
                us / laps / npes);
  shmem_free(token);
  shmem_free(outgoing);
  shmem_free(arrived);
  return example::finish("device_ring", wrong);
}
