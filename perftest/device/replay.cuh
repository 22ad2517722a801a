// SPDX-License-Identifier: BSD-3-Clause
// Calls in the order of a stream, captured once by a CUDA graph and replayed without the CPU.
#pragma once

#include <memory>

#include "perftest/device/context.cuh"

namespace railshmem::perf::gpu {

class Replay {
  struct Destroy {
    void operator()(cudaGraph_t graph) const {
      if (!giving_up()) cudaGraphDestroy(graph);
    }
    void operator()(cudaGraphExec_t graph) const {
      if (!giving_up()) cudaGraphExecDestroy(graph);
    }
  };

 public:
  /// Captures n calls.
  template <class Call>
  Replay(cudaStream_t stream, long n, Call&& call) : stream_(stream) {
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (long i = 0; i < n; ++i) call();
    cudaGraph_t captured = nullptr;
    CUDA_CHECK(cudaStreamEndCapture(stream, &captured));
    const std::unique_ptr<CUgraph_st, Destroy> graph(captured);
    cudaGraphExec_t made = nullptr;
    CUDA_CHECK(cudaGraphInstantiate(&made, captured, 0));
    executable_.reset(made);
  }

  void launch() const { CUDA_CHECK(cudaGraphLaunch(executable_.get(), stream_)); }

 private:
  cudaStream_t stream_;
  std::unique_ptr<CUgraphExec_st, Destroy> executable_;
};

}  // namespace railshmem::perf::gpu
