// SPDX-License-Identifier: BSD-3-Clause
// moe/kernels/moe.cu on the CPU, by a few threads. Compiled with RAILSHMEM_EMULATION.
#include "tests/gpu/fake_driver/driver_kernels/moe_kernels.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "moe/kernels/bulk_count.h"
#include "moe/kernels/bulk_far_combine.h"
#include "moe/kernels/bulk_far_dispatch.h"
#include "moe/kernels/combine.h"
#include "moe/kernels/dispatch.h"
#include "moe/kernels/few_far_calls.h"
#include "tests/gpu/emulated/emulation.h"

namespace railshmem::cuda {
namespace {

/// Any number of blocks and threads is right. With six blocks few tokens are shared by two or four.
template <class Call, class Memory = moe::kernels::Shared, class Run>
FakeKernel kernel(const WorldView& view, Run&& run) {
  return {{sizeof(Call)}, [run, &view](const FakeLaunch& launch) {
            const auto blocks = std::min(launch.grid[0], 6u), threads = std::min(launch.block[0], 2u);
            const Call& call = *static_cast<const Call*>(launch.parameters[0]);
            emulation::run({{&view, blocks, threads, [&] { run(call, emulation::shared<Memory>("all")); }}});
          }};
}

template <class Payload, class Place>
FakeKernel dispatch(const WorldView& view) {
  return kernel<moe::DispatchCall>(view, [](const moe::DispatchCall& call, moe::kernels::Shared& shared) {
    moe::kernels::run_dispatch<Payload, Place>(call, shared);
  });
}
template <class T, bool kLate, class Place>
FakeKernel combine(const WorldView& view) {
  return kernel<moe::CombineCall>(view, [](const moe::CombineCall& call, moe::kernels::Shared& shared) {
    moe::kernels::run_combine<T, kLate, Place>(call, shared);
  });
}

template <class Payload, class Place>
FakeKernel far_dispatch(const WorldView& view) {
  using moe::kernels::FarShared;
  using Call = moe::FarFewCall<moe::DispatchCall>;
  return kernel<Call, FarShared>(
      view, [](const Call& call, FarShared& shared) { moe::kernels::run_far_dispatch<Payload, Place>(call, shared); });
}
template <class T, bool kLate, class Place>
FakeKernel far_combine(const WorldView& view) {
  using moe::kernels::FarShared;
  using Call = moe::FarFewCall<moe::CombineCall>;
  return kernel<Call, FarShared>(
      view, [](const Call& call, FarShared& shared) { moe::kernels::run_far_combine<T, kLate, Place>(call, shared); });
}

/// Two blocks of one warp, which sends and then receives, or one of two warps, one for each.
template <class Call, class Run>
FakeKernel bulk(const WorldView& view, Run&& run) {
  return {{sizeof(Call)}, [run, &view, launches = std::make_shared<uint32_t>(0)](const FakeLaunch& launch) {
            const bool warps = (*launches)++ % 2 == 1;
            const Call& call = *static_cast<const Call*>(launch.parameters[0]);
            emulation::run({{&view, warps ? 1u : 2u, warps ? 34u : 2u, [&] { run(call); }}});
          }};
}
template <class Kernel, class Call>
FakeKernel bulk(const WorldView& view) {
  return bulk<Call>(view, [](const Call& call) { Kernel(call).run(); });
}

template <bool kFar>
FakeKernel count(const WorldView& view) {
  return bulk<moe::CountCall>(view, [](const moe::CountCall& call) {
    moe::kernels::BulkCount<kFar>(call, emulation::shared<moe::kernels::CountShared>("all")).run();
  });
}

void add_bulk(FakeModule& module, const WorldView& view) {
  using moe::kernels::BulkCombine, moe::kernels::BulkDispatch, moe::kernels::BulkFarCombine,
      moe::kernels::BulkFarDispatch, moe::kernels::BulkPart;
  auto& kernels = module.kernels;
  kernels["railshmem_moe_bulk_dispatch"] = bulk<BulkDispatch<BulkPart>, moe::BulkDispatchCall>(view);
  kernels["railshmem_moe_bulk_combine_half"] = bulk<BulkCombine<Half, BulkPart>, moe::BulkCombineCall>(view);
  kernels["railshmem_moe_bulk_combine_bfloat16"] = bulk<BulkCombine<Bfloat16, BulkPart>, moe::BulkCombineCall>(view);
  kernels["railshmem_moe_bulk_far_dispatch"] = bulk<BulkFarDispatch, moe::BulkFarDispatchCall>(view);
  kernels["railshmem_moe_bulk_far_combine_half"] = bulk<BulkFarCombine<Half>, moe::BulkFarCombineCall>(view);
  kernels["railshmem_moe_bulk_far_combine_bfloat16"] = bulk<BulkFarCombine<Bfloat16>, moe::BulkFarCombineCall>(view);
}

/// The kernels for few tokens.
template <class Place>
void add_few(FakeModule& module, const WorldView& view, const std::string& end) {
  using namespace moe::kernels;
  const auto add = [&](const char* name, FakeKernel kernel) {
    module.kernels["railshmem_moe_" + (name + end)] = std::move(kernel);
  };
  add("dispatch", dispatch<PlainPayload, Place>(view));
  add("dispatch_given", dispatch<GivenPayload, Place>(view));
  add("dispatch_scaled_half", dispatch<ScaledPayload<Half, false>, Place>(view));
  add("dispatch_scaled_bfloat16", dispatch<ScaledPayload<Bfloat16, false>, Place>(view));
  add("dispatch_powers_half", dispatch<ScaledPayload<Half, true>, Place>(view));
  add("dispatch_powers_bfloat16", dispatch<ScaledPayload<Bfloat16, true>, Place>(view));
  add("combine_half", combine<Half, false, Place>(view));
  add("combine_bfloat16", combine<Bfloat16, false, Place>(view));
  add("combine_late_half", combine<Half, true, Place>(view));
  add("combine_late_bfloat16", combine<Bfloat16, true, Place>(view));
}

/// Those of teams on several nodes.
template <class Place>
void add_few_far(FakeModule& module, const WorldView& view, const std::string& end) {
  using namespace moe::kernels;
  const auto add = [&](const std::string& name, FakeKernel kernel) {
    module.kernels["railshmem_moe_" + name + end] = std::move(kernel);
  };
  add("dispatch", far_dispatch<PlainPayload, Place>(view));
  add("dispatch_given", far_dispatch<GivenPayload, Place>(view));
  add("dispatch_scaled_half", far_dispatch<ScaledPayload<Half, false>, Place>(view));
  add("dispatch_scaled_bfloat16", far_dispatch<ScaledPayload<Bfloat16, false>, Place>(view));
  add("dispatch_powers_half", far_dispatch<ScaledPayload<Half, true>, Place>(view));
  add("dispatch_powers_bfloat16", far_dispatch<ScaledPayload<Bfloat16, true>, Place>(view));
  add("combine_half", far_combine<Half, false, Place>(view));
  add("combine_bfloat16", far_combine<Bfloat16, false, Place>(view));
  add("combine_late_half", far_combine<Half, true, Place>(view));
  add("combine_late_bfloat16", far_combine<Bfloat16, true, Place>(view));
}

}  // namespace

void add_moe_kernels(FakeModule& module, const WorldView& view) {
  add_few<moe::kernels::Part>(module, view, "");
  add_few<moe::kernels::MaskingPart>(module, view, "_masking");
  add_few_far<moe::kernels::FarFewPart>(module, view, "_far");
  add_few_far<moe::kernels::FarMaskingPart>(module, view, "_far_masking");
  module.kernels["railshmem_moe_mask"] = kernel<moe::MaskCall>(
      view, [](const moe::MaskCall& call, moe::kernels::Shared&) { moe::kernels::run_mask<false>(call); });
  module.kernels["railshmem_moe_mask_far"] = kernel<moe::MaskCall>(
      view, [](const moe::MaskCall& call, moe::kernels::Shared&) { moe::kernels::run_mask<true>(call); });
  add_bulk(module, view);
  module.kernels["railshmem_moe_bulk_layout"] = count<false>(view);
  module.kernels["railshmem_moe_bulk_far_layout"] = count<true>(view);
}

}  // namespace railshmem::cuda
