// SPDX-License-Identifier: BSD-3-Clause
// reduce_lat and its kin: reductions and scans of all PEs, as PE 0 sees them.
#include "perftest/harness/measure.h"
#ifdef RAILSHMEM_SHMEM_API_H  // reducescatter is an extension of this library
#include <shmemx.h>
#endif

namespace railshmem::perf {
namespace {

constexpr FloorOf kFloor{"floor_reduce", "latency"};
constexpr FloorOf kFabricFloor{"floor_fi_pingpong", "one_way"};
constexpr Range kSizes{8, 1 << 20};

/// How many times dest a source is, and which part of the result dest gets.
struct Parts {
  uint64_t count = 1;
  uint64_t mine = 0;
};

/// Runs `call(dest, source, elements)` over the sizes. In checked rounds element i of PE p is p * 100 + i % 64, and
/// `expected(i)` is the right result.
template <class T, class Call, class Expected>
void run(Context& context, Call&& call, Expected&& expected, const Parts& parts = {}) {
  const uint64_t capacity = std::max<uint64_t>(context.largest(), sizeof(T));
  Symmetric source(capacity * parts.count);
  Symmetric dest(capacity);
  T* const from = source.as<T>();
  T* const to = dest.as<T>();
  for (uint64_t i = 0; i < capacity * parts.count / sizeof(T); ++i)
    from[i] = static_cast<T>(context.pe * 100 + static_cast<int>(i % 64));
  for (const uint64_t bytes : context.sizes) {
    const uint64_t n = std::max<uint64_t>(bytes / sizeof(T), 1);
    if (context.options.validate) {
      shmem_barrier_all();
      call(to, from, n);
      for (uint64_t i = 0; i < n; ++i)
        if (to[i] != static_cast<T>(expected(static_cast<int>((parts.mine * n + i) % 64)))) {
          context.mismatch("element " + std::to_string(i) + " of " + std::to_string(n));
          break;
        }
      context.conclude_check();
    }
    context.add_latency("latency", bytes, measure(context, true, context.pe == 0, [&] { call(to, from, n); }));
  }
}

#if RAILSHMEM_PERF_HAS(1, 5)
#define REDUCE(N, OP) \
  [](auto* dest, const auto* source, uint64_t n) { shmem_##N##_##OP##_reduce(SHMEM_TEAM_WORLD, dest, source, n); }
#else
/// The old active-set form with its work arrays, two of each in turn, as its rules for reuse ask for.
template <class T, class ToAll>
void to_all(T* dest, const T* source, uint64_t n, ToAll&& function) {
  static uint64_t calls = 0;
  static uint64_t capacity = 0;
  static T* work[2];
  static long* sync[2];
  if (n / 2 + 1 > capacity) {
    capacity = std::max<uint64_t>(n / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE);
    for (int k = 0; k < 2; ++k) {
      work[k] = static_cast<T*>(shmem_malloc(capacity * sizeof(T)));
      sync[k] = static_cast<long*>(shmem_malloc(SHMEM_REDUCE_SYNC_SIZE * sizeof(long)));
      for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) sync[k][i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
  }
  const uint64_t turn = calls++ % 2;
  function(dest, const_cast<T*>(source), static_cast<int>(n), 0, 0, shmem_n_pes(), work[turn], sync[turn]);
}
#define REDUCE(N, OP) \
  [](auto* dest, const auto* source, uint64_t n) { to_all(dest, source, n, shmem_##N##_##OP##_to_all); }
#endif

void reduce_lat(Context& context) {
  const int all = context.npes * (context.npes - 1) / 2 * 100;
  run<long>(context, REDUCE(long, sum), [&](int i) { return all + context.npes * i; });
}
void reduce_double_lat(Context& context) {
  const int all = context.npes * (context.npes - 1) / 2 * 100;
  run<double>(context, REDUCE(double, sum), [&](int i) { return all + context.npes * i; });
}
void reduce_max_lat(Context& context) {
  run<int>(context, REDUCE(int, max), [&](int i) { return (context.npes - 1) * 100 + i; });
}
const Register reduce_bench({"reduce_lat", "sum of long over all PEs: us", Place::all, kSizes, reduce_lat, kFloor,
                             kFabricFloor});
const Register double_bench({"reduce_double_lat", "sum of double over all PEs: us", Place::all, kSizes,
                             reduce_double_lat, kFloor, kFabricFloor});
const Register max_bench({"reduce_max_lat", "maximum of int over all PEs: us", Place::all, kSizes, reduce_max_lat,
                          kFloor, kFabricFloor});

#if RAILSHMEM_PERF_HAS(1, 6)
void inscan_lat(Context& context) {
  const int up_to_me = context.pe * (context.pe + 1) / 2 * 100;
  run<long>(
      context,
      [](long* dest, const long* source, uint64_t n) { shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, source, n); },
      [&](int i) { return up_to_me + (context.pe + 1) * i; });
}
const Register inscan_bench({"inscan_lat", "inclusive prefix sum of long over all PEs: us", Place::all, kSizes,
                             inscan_lat, kFloor, kFabricFloor});
#endif

#ifdef RAILSHMEM_SHMEM_API_H
void reducescatter_lat(Context& context) {
  const int all = context.npes * (context.npes - 1) / 2 * 100;
  run<long>(
      context,
      [](long* dest, const long* source, uint64_t n) {
        shmemx_long_sum_reducescatter(SHMEM_TEAM_WORLD, dest, source, n);
      },
      [&](int i) { return all + context.npes * i; },
      {static_cast<uint64_t>(context.npes), static_cast<uint64_t>(context.pe)});
}
const Register reducescatter_bench({"reducescatter_lat", "sum of long over all PEs, dealt out: us by bytes of dest",
                                    Place::all, kSizes, reducescatter_lat, kFloor, kFabricFloor});
#endif

}  // namespace
}  // namespace railshmem::perf
