// SPDX-License-Identifier: BSD-3-Clause
// src/cuda/kernels/stream.cu on the CPU, by one thread. Compiled with RAILSHMEM_EMULATION.
#include "src/cuda/kernels/stream.h"
#include "tests/support/emulation.h"
#include "tests/support/fake_driver/state.h"

namespace railshmem::cuda {
namespace {

WorldView view;

const StreamCall& call_of(const FakeLaunch& launch) {
  return *static_cast<const StreamCall*>(launch.parameters[0]);
}

}  // namespace

void add_stream_kernels(FakeModule& module) {
  const std::vector<size_t> parameters = {sizeof(StreamCall)};
  module.kernels["railshmem_stream_step"] = {
      parameters, [](const FakeLaunch& launch) {
        emulation::run({{&view, 1, 1, [&] { kernels::run_step(call_of(launch)); }}});
      }};
  module.kernels["railshmem_stream_collective"] = {
      parameters, [](const FakeLaunch& launch) {
        DeviceReduction shared;
        emulation::run({{&view, 1, 1, [&] { kernels::run_collective(call_of(launch), shared); }}});
      }};
  module.globals["railshmem_device_view"] = std::as_writable_bytes(std::span(&view, 1));
}

}  // namespace railshmem::cuda
