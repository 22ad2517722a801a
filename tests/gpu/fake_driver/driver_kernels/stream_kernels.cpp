// SPDX-License-Identifier: BSD-3-Clause
// src/cuda/kernels/stream.cu on the CPU, by one thread. Compiled with RAILSHMEM_EMULATION.
#include "src/cuda/kernels/stream.h"
#include "src/cuda/kernels/stream_many.h"
#include "tests/gpu/emulated/emulation.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

WorldView view;

template <class Call>
const Call& parameter_of(const FakeLaunch& launch) {
  return *static_cast<const Call*>(launch.parameters[0]);
}

/// Every block is one thread.
template <class Call, class Run>
FakeKernel kernel(Run&& run) {
  return {{sizeof(Call)}, [run](const FakeLaunch& launch) {
            emulation::run({{&view, launch.grid[0], 1, [&] { run(parameter_of<Call>(launch)); }}});
          }};
}

template <class Run>
FakeKernel reduction(Run&& run) {
  return {{sizeof(StreamCall), sizeof(DeviceReduction)}, [run](const FakeLaunch& launch) {
            const auto& part = *static_cast<const DeviceReduction*>(launch.parameters[1]);
            emulation::run({{&view, 1, 1, [&] { run(parameter_of<StreamCall>(launch), part); }}});
          }};
}

}  // namespace

void add_stream_kernels(FakeModule& module) {
  module.kernels["railshmem_stream_step"] = kernel<StreamCall>([](const StreamCall& call) { kernels::run_step(call); });
  module.kernels["railshmem_stream_collective"] =
      kernel<StreamCall>([](const StreamCall& call) { kernels::run_moves<device::BlockScope>(call); });
  module.kernels["railshmem_stream_cluster"] =
      kernel<StreamCall>([](const StreamCall& call) { kernels::run_moves<kernels::ClusterScope>(call); });
  module.kernels["railshmem_stream_reduce"] = reduction([](const StreamCall& call, const DeviceReduction& part) {
    kernels::ReduceRoom room;
    kernels::run_reduce(call, part, room);
  });
  module.kernels["railshmem_stream_cluster_reduce"] =
      reduction([](const StreamCall& call, const DeviceReduction& part) {
        kernels::reduce_among<kernels::ClusterScope>(call, part);
      });
  module.kernels["railshmem_stream_strided"] =
      kernel<StreamStrides>([](const StreamStrides& strides) { kernels::run_strided(strides); });
  module.kernels["railshmem_stream_words"] =
      kernel<StreamWords>([](const StreamWords& words) { kernels::run_words(words); });
  module.globals["railshmem_device_view"] = std::as_writable_bytes(std::span(&view, 1));
}

}  // namespace railshmem::cuda
