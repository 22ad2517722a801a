// SPDX-License-Identifier: BSD-3-Clause
//
// CUDA graph: a step of communication and computation is captured once and replayed many times; the CPU launches one
// graph for each step. Each PE hands its numbers to the right and adds the numbers from the left.
//   oshrun -n 4 ./cuda_graph [--steps 200] [--words 4096]
#include "gpu_example.h"

#include <vector>

__global__ void add_and_count(uint64_t* words, const uint64_t* others, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) words[i] += others[i] + 1;
}

int main(int argc, char** argv) {
  example::start();
  const int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
  const int steps = example::option(argc, argv, "--steps", 200), n = example::option(argc, argv, "--words", 4096);
  example::demand(steps > 0 && n > 0, "--steps and --words of 1 or more");
  uint64_t* const words = example::on_gpu<uint64_t>(n);
  uint64_t* const from_left = example::on_gpu<uint64_t>(n);
  uint64_t* const arrived = example::on_gpu<uint64_t>(1);
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  cudaGraph_t graph;
  cudaGraphExec_t step;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  shmemx_uint64_put_signal_on_stream(from_left, words, n, arrived, 1, SHMEM_SIGNAL_SET, right, stream);
  shmemx_signal_wait_until_on_stream(arrived, SHMEM_CMP_EQ, 1, stream);
  shmemx_uint64_p_on_stream(arrived, 0, me, stream);  // every replay waits for 1
  add_and_count<<<32, 256, 0, stream>>>(words, from_left, n);
  shmemx_barrier_all_on_stream(stream);  // nobody sends again before everybody has added
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiateWithFlags(&step, graph, 0));
  shmem_barrier_all();

  const double began = example::seconds();
  for (int i = 0; i < steps; ++i) MUST(cudaGraphLaunch(step, stream));
  MUST(cudaStreamSynchronize(stream));
  const double us = (example::seconds() - began) * 1e6;

  std::vector<uint64_t> values(npes, 0);  // of every PE, as the CPU adds them
  for (int i = 0; i < steps; ++i) {
    const std::vector<uint64_t> before = values;
    for (int pe = 0; pe < npes; ++pe) values[pe] += before[(pe + npes - 1) % npes] + 1;
  }
  std::vector<uint64_t> mine(n);
  MUST(cudaMemcpy(mine.data(), words, n * sizeof(uint64_t), cudaMemcpyDeviceToHost));
  long wrong = 0;
  for (const uint64_t word : mine) wrong += word != values[me];

  if (me == 0)
    std::printf("cuda_graph: %d replays of a step of %d words on %d PEs, %.1f us each\n", steps, n, npes, us / steps);
  MUST(cudaGraphExecDestroy(step));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaStreamDestroy(stream));
  for (uint64_t* const memory : {words, from_left, arrived}) shmem_free(memory);
  return example::finish("cuda_graph", wrong);
}
