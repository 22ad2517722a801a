// SPDX-License-Identifier: BSD-3-Clause
// src/cuda/kernels/stream.cu on the CPU, by one thread, and coll.cu by a few. Compiled with RAILSHMEM_EMULATION.
#include <algorithm>

#include "src/cuda/kernels/coll_engines.h"
#include "src/cuda/kernels/coll_pieces.h"
#include "src/cuda/kernels/stream.h"
#include "src/cuda/kernels/stream_many.h"
#include "tests/gpu/emulated/emulation.h"
#include "tests/gpu/fake_driver/driver/state.h"
#include "tests/gpu/fake_driver/driver_kernels/moe_kernels.h"

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

/// A collective's kernel, for which any number of blocks and threads is right that all members have.
template <class Call, class Run>
FakeKernel coll(Run&& run) {
  return {{sizeof(Call)}, [run](const FakeLaunch& launch) {
            const auto blocks = std::min(launch.grid[0], 3u), threads = std::min(launch.block[0], 2u);
            emulation::run({{&view, blocks, threads, [&] { run(parameter_of<Call>(launch)); }}});
          }};
}

/// A kernel of several units a thread. Where the grid is enough for a single exchange it sends what kernels of one unit
/// send, which other members may run (Step::units). Here grids are smaller, so it has to be such a kernel then.
template <class Call, class RunOne, class RunSeveral>
FakeKernel coll_of_any_form(RunOne&& run_one, RunSeveral&& run_several) {
  const FakeKernel one = coll<Call>(run_one), several = coll<Call>(run_several);
  return {{sizeof(Call)}, [one, several](const FakeLaunch& launch) {
            const Call& call = parameter_of<Call>(launch);
            const uint64_t at_once = uint64_t{std::min(launch.grid[0], call.members.packet_blocks)} * launch.block[0];
            (call.nbytes <= at_once * kUnit ? one : several).body(launch);
          }};
}

template <uint32_t kUnits, class T, bool kParts>
void add_sum(FakeModule& module, const std::string& name) {
  module.kernels[name] =
      coll<EvenCombineCall>([](const EvenCombineCall& call) { kernels::run_sum<kUnits, T, kParts>(call); });
}

template <class T>
void add_sums(FakeModule& module, const std::string& type) {
  const std::string name = "railshmem_coll_sum_" + type;
  module.kernels["railshmem_coll_staged_sum_" + type] = coll<CombineCall>(
      [](const CombineCall& call) { kernels::run_staged_sum<T>(call, emulation::shared<kernels::Halves>("halves")); });
  add_sum<1, T, false>(module, name);
  add_sum<kUnitsOfThread, T, false>(module, name + "_long");
  add_sum<1, T, true>(module, name + "_parts");
}

}  // namespace

void add_stream_kernels(FakeModule& module) {
  module.kernels["railshmem_stream_step"] = kernel<StreamCall>([](const StreamCall& call) { kernels::run_step(call); });
  module.kernels["railshmem_stream_block"] =
      kernel<StreamCall>([](const StreamCall& call) { kernels::run_near<device::BlockScope>(call); });
  module.kernels["railshmem_stream_cluster"] =
      kernel<StreamCall>([](const StreamCall& call) { kernels::run_near<kernels::ClusterScope>(call); });
  module.kernels["railshmem_stream_strided"] =
      kernel<StreamStrides>([](const StreamStrides& strides) { kernels::run_strided(strides); });
  module.kernels["railshmem_stream_words"] =
      kernel<StreamWords>([](const StreamWords& words) { kernels::run_words(words); });
  module.kernels["railshmem_coll_move_even"] =
      coll<EvenMoveCall>([](const EvenMoveCall& call) { kernels::run_move<1>(call); });
  module.kernels["railshmem_coll_move_even_long"] =
      coll<EvenMoveCall>([](const EvenMoveCall& call) { kernels::run_move<kUnitsOfThread>(call); });
  add_sums<float>(module, "float");
  add_sums<Half>(module, "half");
  add_sums<Bfloat16>(module, "bfloat16");
  module.kernels["railshmem_coll_move"] =
      coll_of_any_form<MoveCall>([](const MoveCall& call) { kernels::run_move<1>(call); },
                                 [](const MoveCall& call) { kernels::run_move<kUnitsOfThread>(call); });
  module.kernels["railshmem_coll_move_sizes"] = coll<MoveSizesCall>(
      [](const MoveSizesCall& call) { kernels::run_move_sizes(call, &emulation::shared<uint64_t>("most")); });
  module.kernels["railshmem_coll_combine"] =
      coll_of_any_form<CombineCall>([](const CombineCall& call) { kernels::run_combine<1>(call); },
                                    [](const CombineCall& call) { kernels::run_combine<kUnitsOfThread>(call); });
  module.kernels["railshmem_coll_direct_move"] = coll<DirectMoveCall>([](const DirectMoveCall& call) {
    kernels::run_direct_move(call, emulation::shared<kernels::Found>("found"),
                             emulation::shared<kernels::Halves>("halves"));
  });
  module.kernels["railshmem_coll_direct_combine"] = coll<DirectCombineCall>([](const DirectCombineCall& call) {
    kernels::run_direct_combine(call, emulation::shared<kernels::Found>("found"),
                                emulation::shared<kernels::Halves>("halves"));
  });
  module.kernels["railshmem_coll_staged_move"] = coll<MoveCall>(
      [](const MoveCall& call) { kernels::run_staged_move(call, -1, emulation::shared<kernels::Halves>("halves")); });
  module.kernels["railshmem_coll_staged_combine"] = coll<CombineCall>(
      [](const CombineCall& call) { kernels::run_staged_combine(call, emulation::shared<kernels::Halves>("halves")); });
  module.kernels["railshmem_coll_begin"] = coll<EngineMoveCall>(
      [](const EngineMoveCall& call) { kernels::run_begin(call, emulation::shared<Heard>("heard")); });
  module.kernels["railshmem_coll_own_block"] =
      coll<OwnBlockCall>([](const OwnBlockCall& call) { kernels::run_own_block(call); });
  module.kernels["railshmem_coll_end"] = coll<EngineMoveCall>(
      [](const EngineMoveCall& call) { kernels::run_end(call, emulation::shared<kernels::Halves>("halves")); });
  module.kernels["railshmem_coll_pieces"] = coll<PieceCombineCall>([](const PieceCombineCall& call) {
    kernels::run_pieces(call, emulation::shared<DeviceReduction>("part"), &emulation::shared<uint64_t>("number"));
  });
  add_moe_kernels(module, view);
  module.globals["railshmem_device_view"] = std::as_writable_bytes(std::span(&view, 1));
}

}  // namespace railshmem::cuda
