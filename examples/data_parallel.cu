// SPDX-License-Identifier: BSD-3-Clause
//
// Data-parallel training with a sharded optimizer (ZeRO): each PE computes gradients from samples of its own, a
// reduce-scatter gives each PE the average of one shard, the PE updates its shard, and an all-gather hands the new
// parameters to all. Everything is in one CUDA stream, or in a CUDA graph. The model is a linear map whose true weights
// are known, so the program can check what it has learned. No PE can learn them from its own samples. Explained by
// docs/tutorials/07-data-parallel.md.
//   oshrun -n 4 ./data_parallel [--steps 100] [--outputs 4096] [--samples 128] [--graph] [--registered]
#include "data_parallel.h"

#include <vector>

namespace {

using namespace data_parallel;

constexpr int kThreads = 128;  // of a block

/// What a PE works with. Collectives name parameters and gradients; nobody else touches the rest.
struct Pe {
  Model model;
  size_t shard;       ///< parameters of a PE
  float* parameters;  ///< all of them, equal on all PEs after each step
  float* gradients;   ///< of all parameters; the PE's shard becomes the average of all PEs
  float* velocity;    ///< of the PE's shard only
  float* inputs;      ///< model.samples x kInputs
  float* targets;     ///< model.samples x model.outputs
  float* squares;     ///< model.outputs: squared errors at the last step
  shmemx_coll_t reduce_scatter, all_gather;
};

/// Memory of this PE's GPU for collectives, full of zeroes: of the symmetric heap, or local and registered.
float* shared_memory(size_t n, bool registered) {
  if (!registered) return example::on_gpu<float>(n);
  auto* const memory = static_cast<float*>(shmemx_mem_alloc(n * sizeof(float)));
  if (memory == nullptr) shmem_global_exit(2);  // a message has said why
  MUST(cudaMemset(memory, 0, n * sizeof(float)));
  return memory;
}

/// Memory that only this PE uses, full of zeroes.
float* own_memory(size_t n) {
  float* memory = nullptr;
  MUST(cudaMalloc(&memory, n * sizeof(float)));
  MUST(cudaMemset(memory, 0, n * sizeof(float)));
  return memory;
}

/// The collectives of a step, both in place: a PE's shard is where it belongs among all parameters.
void describe_collectives(Pe& pe) {
  const size_t mine = static_cast<size_t>(shmem_my_pe()) * pe.shard;
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;  // among all PEs
  coll.datatype = SHMEMX_DATATYPE_FLOAT;
  coll.nelems = pe.shard;

  coll.collective = SHMEMX_COLL_REDUCESCATTER;
  coll.op = SHMEMX_OP_AVG;
  coll.source = pe.gradients;
  coll.dest = pe.gradients + mine;
  pe.reduce_scatter = coll;

  coll.collective = SHMEMX_COLL_ALLGATHER;
  coll.source = pe.parameters + mine;
  coll.dest = pe.parameters;
  pe.all_gather = coll;
}

void run(const shmemx_coll_t& coll, cudaStream_t stream) {
  if (shmemx_coll_on_stream(&coll, stream) != 0) shmem_global_exit(2);  // a message has said why
}

/// Puts a step of the training into the stream.
void step(const Pe& pe, cudaStream_t stream) {
  const size_t mine = static_cast<size_t>(shmem_my_pe()) * pe.shard;
  compute_gradients<<<blocks(pe.model.outputs, kThreads), kThreads, 0, stream>>>(pe.model, pe.parameters, pe.inputs,
                                                                                 pe.targets, pe.gradients, pe.squares);
  run(pe.reduce_scatter, stream);
  update<<<blocks(pe.shard, kThreads), kThreads, 0, stream>>>(pe.parameters + mine, pe.velocity, pe.gradients + mine,
                                                              pe.shard);
  run(pe.all_gather, stream);
  MUST(cudaGetLastError());
}

/// Mean squared error of this PE's samples, as the stream's last step found it before it changed the parameters.
double loss(const Pe& pe) {
  std::vector<float> squares(pe.model.outputs);
  MUST(cudaMemcpy(squares.data(), pe.squares, squares.size() * sizeof(float), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (const float square : squares) sum += square;
  return sum / pe.model.samples / pe.model.outputs;
}

/// Runs that many steps, and returns the time of one in microseconds on the slowest PE.
double train(const Pe& pe, int steps, bool with_graph, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  if (with_graph) {
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    step(pe, stream);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  }
  shmem_barrier_all();
  const double began = example::seconds();
  for (int i = 0; i < steps; ++i) {
    if (with_graph) {
      MUST(cudaGraphLaunch(ready, stream));
    } else {
      step(pe, stream);
    }
  }
  MUST(cudaStreamSynchronize(stream));
  const double us = (example::seconds() - began) * 1e6 / steps;
  if (with_graph) {
    MUST(cudaGraphExecDestroy(ready));
    MUST(cudaGraphDestroy(graph));
  }
  return example::largest(us);
}

/// Prints which way a collective takes.
void explain(const shmemx_coll_t& coll) {
  char line[400];
  if (shmemx_coll_explain(&coll, line, sizeof line) == 0) shmem_global_exit(2);
  std::printf("data_parallel: %s\n", line);
}

}  // namespace

int main(int argc, char** argv) {
  example::start();
  const int npes = shmem_n_pes(), steps = example::option(argc, argv, "--steps", 100);
  const bool with_graph = example::flag(argc, argv, "--graph"), registered = example::flag(argc, argv, "--registered");
  Pe pe{};
  pe.model = {example::option(argc, argv, "--outputs", 4096), example::option(argc, argv, "--samples", kFewestSamples)};
  example::demand(steps >= kFewestSteps, "--steps of 60 or more, to reach the true weights");
  example::demand(pe.model.outputs > 0 && pe.model.samples >= kFewestSamples,
                  "--outputs of 1 or more and --samples of 128 or more");
  if (shmemx_attach_device() != 0) shmem_global_exit(2);  // without shmem_malloc nothing else tells the GPU of this PE
  pe.shard = shard_of(pe.model.parameters(), npes);
  pe.parameters = shared_memory(pe.shard * npes, registered);
  pe.gradients = shared_memory(pe.shard * npes, registered);
  pe.velocity = own_memory(pe.shard);
  pe.inputs = own_memory(static_cast<size_t>(pe.model.samples) * kInputs);
  pe.targets = own_memory(static_cast<size_t>(pe.model.samples) * pe.model.outputs);
  pe.squares = own_memory(pe.model.outputs);
  describe_collectives(pe);
  if (shmem_my_pe() == 0)
    for (const shmemx_coll_t& coll : {pe.reduce_scatter, pe.all_gather}) explain(coll);
  MUST(cudaDeviceSynchronize());  // the zeroes are there
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  make_samples<<<blocks(pe.model.outputs, kThreads), kThreads, 0, stream>>>(pe.model, shmem_my_pe(), npes, pe.inputs,
                                                                            pe.targets);

  step(pe, stream);  // the first collectives make the PEs of a node meet on the host
  MUST(cudaStreamSynchronize(stream));
  const double first = example::largest(loss(pe));
  const double us = train(pe, steps - 1, with_graph, stream);
  const double last = example::largest(loss(pe));

  std::vector<float> learned(pe.model.parameters());
  MUST(cudaMemcpy(learned.data(), pe.parameters, learned.size() * sizeof(float), cudaMemcpyDeviceToHost));
  const long wrong = (last < first * kLossFalls ? 0 : 1) + far_from_truth(learned) + unlike_first_pe(learned);
  const double mb = 2e-6 * (npes - 1) * static_cast<double>(pe.shard * sizeof(float));
  if (shmem_my_pe() == 0)
    std::printf(
        "data_parallel: %d steps of %zu parameters on %d PEs%s%s, %.1f us each, %.2f MB out of each PE in a step, "
        "%.2f GB/s, loss from %.2g to %.2g, checksum %016llx\n",
        steps, learned.size(), npes, with_graph ? " in a graph" : "", registered ? " in registered memory" : "", us, mb,
        mb / us * 1e3, first, last, checksum(learned));

  MUST(cudaStreamDestroy(stream));
  for (float* const memory : {pe.velocity, pe.inputs, pe.targets, pe.squares}) MUST(cudaFree(memory));
  for (float* const memory : {pe.parameters, pe.gradients}) {
    if (!registered) {
      shmem_free(memory);
    } else if (shmemx_mem_free(memory) != 0) {
      shmem_global_exit(2);
    }
  }
  return example::finish("data_parallel", wrong);
}
