// SPDX-License-Identifier: BSD-3-Clause
//
// Stream-ordered: kernels compute, and calls in the order of their stream send and wait, so that the CPU only gives
// work. In each step a PE adds its left neighbour's numbers to its own; a reduction ends the program.
//   oshrun -n 4 ./stream_ordered [--steps 50] [--words 65536]
#include "gpu_example.h"

#include <vector>

__global__ void count_up(uint64_t* words, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) words[i] += 1;
}

__global__ void add(uint64_t* words, const uint64_t* others, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) words[i] += others[i];
}

int main(int argc, char** argv) {
  example::start();
  const int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
  const int steps = example::option(argc, argv, "--steps", 50), n = example::option(argc, argv, "--words", 65536);
  example::demand(steps > 0 && n > 0, "--steps and --words of 1 or more");
  uint64_t* const words = example::on_gpu<uint64_t>(n);
  uint64_t* const from_left = example::on_gpu<uint64_t>(n);
  uint64_t* const sum = example::on_gpu<uint64_t>(n);
  uint64_t* const arrived = example::on_gpu<uint64_t>(1);
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  shmem_barrier_all();

  const double began = example::seconds();
  for (int step = 1; step <= steps; ++step) {
    count_up<<<32, 256, 0, stream>>>(words, n);
    shmemx_uint64_put_signal_on_stream(from_left, words, n, arrived, step, SHMEM_SIGNAL_SET, right, stream);
    shmemx_signal_wait_until_on_stream(arrived, SHMEM_CMP_GE, step, stream);
    add<<<32, 256, 0, stream>>>(words, from_left, n);
    shmemx_barrier_all_on_stream(stream);  // nobody sends again before everybody has added
  }
  shmemx_uint64_sum_reduce_on_stream(SHMEM_TEAM_WORLD, sum, words, n, stream);
  MUST(cudaGetLastError());
  MUST(cudaStreamSynchronize(stream));
  const double us = (example::seconds() - began) * 1e6;

  std::vector<uint64_t> values(npes, 0);  // of every PE, as the CPU adds them
  uint64_t total = 0;
  for (int step = 0; step < steps; ++step) {
    for (uint64_t& value : values) ++value;
    const std::vector<uint64_t> before = values;
    for (int pe = 0; pe < npes; ++pe) values[pe] += before[(pe + npes - 1) % npes];
  }
  for (const uint64_t value : values) total += value;
  std::vector<uint64_t> mine(n), sums(n);
  MUST(cudaMemcpy(mine.data(), words, n * sizeof(uint64_t), cudaMemcpyDeviceToHost));
  MUST(cudaMemcpy(sums.data(), sum, n * sizeof(uint64_t), cudaMemcpyDeviceToHost));
  long wrong = 0;
  for (int i = 0; i < n; ++i) wrong += (mine[i] != values[me]) + (sums[i] != total);

  if (me == 0)
    std::printf("stream_ordered: %d steps of %d words on %d PEs, %.1f us a step\n", steps, n, npes, us / steps);
  MUST(cudaStreamDestroy(stream));
  for (uint64_t* const memory : {words, from_left, sum, arrived}) shmem_free(memory);
  return example::finish("stream_ordered", wrong);
}
