// SPDX-License-Identifier: BSD-3-Clause
//
// Pipeline: kernels on PE 0 produce chunks, those of every further PE transform what they receive and send it on, the
// last PE checks. Block b of all PEs' kernels is a pipeline of its own. Two slots take turns: while one chunk is on its
// way the next one is made. Credits that go back keep a slot from being overwritten.
//   oshrun -n 4 ./put_signal_pipeline [--chunks 1000] [--kib 64] [--blocks 16] [--threads 512]
#include "gpu_example.h"

constexpr int kSlots = 2;

/// Symmetric arrays; each block uses its own part of each array.
struct Pipeline {
  uint64_t* incoming;         // [block][slot][word]: where chunks arrive
  uint64_t* outgoing;         // [block][slot][word]: where they are made
  uint64_t* arrived;          // [block][slot]: number of the chunk in that slot, from 1
  uint64_t* taken;            // [block]: chunks that the next PE has taken in
  unsigned long long* wrong;  // one counter, of the last PE
  int chunks, words;
};

__device__ uint64_t first_value(int block, int chunk, int word) {
  return static_cast<uint64_t>(chunk) * 1000003 + static_cast<uint64_t>(block) * 7919 + static_cast<uint64_t>(word);
}

__global__ void __launch_bounds__(1024) run_pipeline(Pipeline p) {
  const int me = shmem_my_pe(), last = shmem_n_pes() - 1;
  const int block = blockIdx.x, thread = threadIdx.x, threads = blockDim.x;
  for (int chunk = 1; chunk <= p.chunks; ++chunk) {
    const int slot = block * kSlots + chunk % kSlots;
    const uint64_t* const in = p.incoming + static_cast<size_t>(slot) * p.words;
    uint64_t* const out = p.outgoing + static_cast<size_t>(slot) * p.words;
    if (thread == 0) {
      if (me > 0) shmem_signal_wait_until(&p.arrived[slot], SHMEM_CMP_GE, chunk);
      // Back-pressure: the next PE has taken the chunk that was in this slot before. So the slot is free there, and
      // `out` is free here: a chunk that has been taken has been sent.
      if (me < last && chunk > kSlots) shmem_signal_wait_until(&p.taken[block], SHMEM_CMP_GE, chunk - kSlots);
    }
    __syncthreads();
    for (int i = thread; i < p.words; i += threads) {
      const uint64_t value = me == 0 ? first_value(block, chunk, i) : in[i] + 1;
      if (me == last && value != first_value(block, chunk, i) + me) atomicAdd(p.wrong, 1ull);
      out[i] = value;
    }
    __syncthreads();
    if (thread == 0 && me > 0) shmem_signal_set(&p.taken[block], chunk, me - 1);
    // All threads of the block put together; nobody waits for the chunk to arrive.
    if (me < last)
      shmemx_uint64_put_signal_nbi_block(p.incoming + static_cast<size_t>(slot) * p.words, out, p.words,
                                         &p.arrived[slot], chunk, SHMEM_SIGNAL_SET, me + 1);
  }
  if (thread == 0) shmem_quiet();
}

int main(int argc, char** argv) {
  example::start();
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  const int blocks = example::option(argc, argv, "--blocks", 16);
  const int threads = example::option(argc, argv, "--threads", 512);
  const int kib = example::option(argc, argv, "--kib", 64);
  Pipeline p{};
  p.chunks = example::option(argc, argv, "--chunks", 1000);
  p.words = kib * 128;
  example::demand(blocks > 0 && kib > 0 && p.chunks > 0, "--blocks, --kib and --chunks of 1 or more");
  example::demand(threads > 0 && threads <= 1024, "--threads of 1 to 1024");

  const size_t slots = static_cast<size_t>(blocks) * kSlots;
  p.incoming = example::on_gpu<uint64_t>(slots * p.words);
  p.outgoing = example::on_gpu<uint64_t>(slots * p.words);
  p.arrived = example::on_gpu<uint64_t>(slots);
  p.taken = example::on_gpu<uint64_t>(blocks);
  p.wrong = example::on_gpu<unsigned long long>(1);
  shmem_barrier_all();

  const double began = example::seconds();
  run_pipeline<<<blocks, threads>>>(p);
  MUST(cudaGetLastError());
  MUST(cudaDeviceSynchronize());
  const double time = example::largest(example::seconds() - began);

  unsigned long long wrong = 0;
  MUST(cudaMemcpy(&wrong, p.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
  if (me == 0) {
    const double bytes = static_cast<double>(p.chunks) * blocks * p.words * sizeof(uint64_t);
    std::printf("put_signal_pipeline: %d blocks send %d chunks of %d KiB through %d PEs: %.2f ms, %.2f GB/s a hop\n",
                blocks, p.chunks, kib, npes, time * 1e3, bytes / time * 1e-9);
  }
  shmem_free(p.incoming);
  shmem_free(p.outgoing);
  shmem_free(p.arrived);
  shmem_free(p.taken);
  shmem_free(p.wrong);
  return example::finish("put_signal_pipeline", static_cast<long>(wrong));
}
