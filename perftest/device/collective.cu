// SPDX-License-Identifier: BSD-3-Clause
// barrier, team_sync, team_barrier, fcollect, alltoall_in_kernel, broadcast, reduce over all PEs, one thread, warp or
// block of each calling; the time of PE 0.
//
// bytes of fcollect and alltoall_in_kernel: all that one PE has received in the end, its own part included, that is N
// blocks of bytes / N, as NVSHMEM's own tests count. bytes of broadcast and reduce: the vector of one PE.
#include <algorithm>

#include "perftest/device/api.cuh"
#include "perftest/device/blocks.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope)) barrier_kernel(Loop loop) {
  timed<kScope>(loop, [&](uint64_t, uint64_t) {
    api::barrier<kScope>();
    return true;
  });
}

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope)) team_sync_kernel(Loop loop, api::Team team) {
  timed<kScope>(loop, [&](uint64_t, uint64_t) { return all<kScope>(api::team_sync<kScope>(team) == 0); });
}

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope)) team_barrier_kernel(Loop loop, api::Team team) {
  timed<kScope>(loop, [&](uint64_t, uint64_t) {
    api::team_barrier<kScope>(team);
    return true;
  });
}

/// The root changes: with one root for all calls, that PE would never have to wait for the others.
template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope))
    broadcast_kernel(Loop loop, uint64_t* dest, const uint64_t* source, uint64_t n, int npes) {
  timed<kScope>(loop, [&](uint64_t turn, uint64_t) {
    const int root = static_cast<int>(turn % static_cast<uint64_t>(npes));
    return all<kScope>(api::broadcast<kScope>(dest, source, n, root) == 0);
  });
}

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope))
    fcollect_kernel(Loop loop, uint64_t* dest, const uint64_t* source, uint64_t n) {
  timed<kScope>(loop, [&](uint64_t, uint64_t) { return all<kScope>(api::fcollect<kScope>(dest, source, n) == 0); });
}

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope))
    alltoall_kernel(Loop loop, uint64_t* dest, const uint64_t* source, uint64_t n) {
  timed<kScope>(loop, [&](uint64_t, uint64_t) { return all<kScope>(api::alltoall<kScope>(dest, source, n) == 0); });
}

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope))
    sum_kernel(Loop loop, float* dest, const float* source, uint64_t n) {
  timed<kScope>(loop, [&](uint64_t, uint64_t) { return all<kScope>(api::sum<kScope>(dest, source, n) == 0); });
}

void run_barrier(Context& context) {
  with_scope(context.scope, [&]<Scope kScope>() {
    add_time(context, "latency", 0, 200, std::nullopt,
             [&](const Loop& loop) { context.launch(barrier_kernel<kScope>, 1, context.scope_threads(), loop); });
  });
}

/// Kernels that take a team of all PEs.
void run_team(Context& context, void (*kernel)(Loop, api::Team)) {
  const api::Team team = api::make_team(context.npes);
  add_time(context, "latency", 0, 200, std::nullopt,
           [&](const Loop& loop) { context.launch(kernel, 1, context.scope_threads(), loop, team); });
  if (!giving_up()) api::destroy(team);
}
void run_team_sync(Context& context) {
  with_scope(context.scope, [&]<Scope kScope>() { run_team(context, team_sync_kernel<kScope>); });
}
void run_team_barrier(Context& context) {
  with_scope(context.scope, [&]<Scope kScope>() { run_team(context, team_barrier_kernel<kScope>); });
}

using Kernel = void (*)(Loop, uint64_t*, const uint64_t*, uint64_t);
void run_blocks(Context& context, Kernel kernel, Pattern pattern) {
  const auto npes = static_cast<uint64_t>(context.npes);
  const uint64_t capacity = context.largest() + 8 * npes;
  const Symmetric from(capacity), to(capacity);
  for (const uint64_t size : context.sizes) {
    const uint64_t block = std::max<uint64_t>(8, size / npes / 8 * 8);
    const auto launch = [&](const Loop& loop) {
      context.launch(kernel, 1, context.scope_threads(), loop, to.as<uint64_t>(), from.as<const uint64_t>(), block / 8);
    };
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      fill_blocks(context, pattern, from.as<>(), block);
      self_timed(context, 1, launch);
      validated = check_blocks(context, pattern, to.as<>(), block);
    }
    add_time(context, "latency", block * npes, 100, validated, launch);
  }
}

void run_fcollect(Context& context) {
  with_scope(context.scope, [&]<Scope kScope>() { run_blocks(context, fcollect_kernel<kScope>, Pattern::fcollect); });
}
void run_alltoall(Context& context) {
  with_scope(context.scope, [&]<Scope kScope>() { run_blocks(context, alltoall_kernel<kScope>, Pattern::alltoall); });
}

/// All sources are alike, whoever the root is.
void run_broadcast(Context& context) {
  const Symmetric from(context.largest() + 8), to(context.largest() + 8);
  for (const uint64_t size : context.sizes) {
    const uint64_t n = std::max<uint64_t>(1, size / 8);
    const auto launch = [&](const Loop& loop) {
      with_scope(context.scope, [&]<Scope kScope>() {
        context.launch(broadcast_kernel<kScope>, 1, context.scope_threads(), loop, to.as<uint64_t>(),
                       from.as<const uint64_t>(), n, context.npes);
      });
    };
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      context.fill(from.as<>(), 8 * n, 0);
      self_timed(context, 1, launch);
      validated = context.agree(context.matches(to.as<>(), 8 * n, 0));
    }
    add_time(context, "latency", 8 * n, 100, validated, launch);
  }
}

/// Small whole numbers: their sum is exact in any order.
float addend(int pe, uint64_t i) {
  return static_cast<float>(static_cast<uint64_t>(pe + 1) * (i % 97));
}

bool check_sum(Context& context, const float* dest, uint64_t n) {
  std::vector<float> values(n);
  CUDA_CHECK(cudaMemcpy(values.data(), dest, n * sizeof(float), cudaMemcpyDefault));
  bool well = true;
  for (uint64_t i = 0; well && i < n; ++i) {
    float expected = 0;
    for (int pe = 0; pe < context.npes; ++pe) expected += addend(pe, i);
    well = values[i] == expected;
    if (!well)
      fprintf(stderr, "shmem_gpu_perf: PE %d: reduce by %s: element %llu is %g, expected %g\n", context.pe,
              name_of(context.scope), static_cast<unsigned long long>(i), static_cast<double>(values[i]),
              static_cast<double>(expected));
  }
  return context.agree(well);
}

void run_reduce(Context& context) {
  const Symmetric from(context.largest() + sizeof(float)), to(context.largest() + sizeof(float));
  for (const uint64_t size : context.sizes) {
    const uint64_t n = std::max<uint64_t>(1, size / sizeof(float));
    const auto launch = [&](const Loop& loop) {
      with_scope(context.scope, [&]<Scope kScope>() {
        context.launch(sum_kernel<kScope>, 1, context.scope_threads(), loop, to.as<float>(), from.as<const float>(), n);
      });
    };
    std::vector<float> values(n);
    for (uint64_t i = 0; i < n; ++i) values[i] = addend(context.pe, i);
    CUDA_CHECK(cudaMemcpy(from.as<>(), values.data(), n * sizeof(float), cudaMemcpyDefault));
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      self_timed(context, 1, launch);
      validated = check_sum(context, to.as<float>(), n);
    }
    add_time(context, "latency", n * sizeof(float), 100, validated, launch);
  }
}

const std::vector<Scope> kScopes{Scope::thread, Scope::warp, Scope::block};
constexpr Range kSizes{256, 1 << 20};
const Register barrier_bench({"barrier", "barrier_all in a kernel", Part::all, {0, 0}, kScopes, true, run_barrier});
const Register team_sync_bench(
    {"team_sync", "team_sync of a team of all PEs in a kernel", Part::all, {0, 0}, kScopes, true, run_team_sync});
const Register team_barrier_bench({"team_barrier",
                                   "barrier of such a team: with a quiet before",
                                   Part::all,
                                   {0, 0},
                                   kScopes,
                                   true,
                                   run_team_barrier});
const Register broadcast_bench({"broadcast",
                                "broadcast in a kernel, by each PE in turn; bytes: the vector of one PE",
                                Part::all,
                                kSizes,
                                {Scope::block},
                                true,
                                run_broadcast});
const Register fcollect_bench({"fcollect",
                               "fcollect in a kernel; bytes: N blocks together",
                               Part::all,
                               kSizes,
                               {Scope::block},
                               true,
                               run_fcollect});
const Register alltoall_bench({"alltoall_in_kernel",
                               "alltoall in a kernel; bytes: N blocks together",
                               Part::all,
                               kSizes,
                               {Scope::block},
                               true,
                               run_alltoall});
const Register reduce_bench({"reduce",
                             "sum of floats in a kernel; bytes: the vector of one PE",
                             Part::all,
                             kSizes,
                             {Scope::block},
                             true,
                             run_reduce});

}  // namespace
}  // namespace railshmem::perf::gpu
