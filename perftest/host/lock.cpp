// SPDX-License-Identifier: BSD-3-Clause
// lock_lat: taking and releasing a lock, alone and with every PE after it.
#include <algorithm>

#include "perftest/harness/measure.h"

namespace railshmem::perf {
namespace {

constexpr int kLocks = 64;  // enough that some have their home at PE 0 and some far away, wherever a library puts them

void set_and_clear(long* lock) {
  shmem_set_lock(lock);
  shmem_clear_lock(lock);
}

/// PE 0's fastest and slowest lock, for all PEs.
std::pair<long, long> near_and_far(Context& context, long* locks) {
  std::pair<long, long> extremes;
  double least = 0, most = 0;
  for (long i = 0; context.pe == 0 && i < kLocks; ++i) {
    set_and_clear(locks + i);
    double best = seconds_of(16, [&] { set_and_clear(locks + i); });
    for (int again = 0; again < 4; ++again) best = std::min(best, seconds_of(16, [&] { set_and_clear(locks + i); }));
    if (i == 0 || best < least) least = best, extremes.first = i;
    if (i == 0 || best > most) most = best, extremes.second = i;
  }
  shmem_barrier_all();
  return {context.agree(extremes.first), context.agree(extremes.second)};
}

/// A counter that is right only if one PE at a time has the lock.
void check(Context& context, long* lock, long* counter) {
  *counter = 0;
  shmem_barrier_all();
  for (int i = 0; i < context.options.window; ++i) {
    shmem_set_lock(lock);
    shmem_long_p(counter, shmem_long_g(counter, 0) + 1, 0);
    shmem_clear_lock(lock);
  }
  shmem_barrier_all();
  const long expected = static_cast<long>(context.npes) * context.options.window;
  if (context.pe == 0 && *static_cast<volatile long*>(counter) != expected)
    context.mismatch("the counter is " + std::to_string(*counter) + ", expected " + std::to_string(expected));
  context.conclude_check();
}

/// Seconds from one holder to the next while all PEs compete. Few rounds, fixed: a PE whose rivals sleep is a thousand
/// times faster than one that must wait for each of them to get a CPU, so no plan made before would fit.
Distribution handover(Context& context, long* lock) {
  constexpr long kRounds = 20;
  Series series;
  for (int r = 0; r < context.options.repetitions; ++r) {
    shmem_barrier_all();
    const uint64_t start = ticks();
    for (long i = 0; i < kRounds; ++i) set_and_clear(lock);
    shmem_barrier_all();
    const double turns = static_cast<double>(kRounds * context.npes);
    const double seconds = static_cast<double>(ticks() - start) * seconds_per_tick() / turns;
    series.samples.push_back(seconds);
    series.repetition_means.push_back(seconds);
    series.iters += kRounds * context.npes;
  }
  return distribution(series);
}

/// "near" and "far": PE 0 alone, nobody competes. "handover": all PEs compete.
void lock_lat(Context& context) {
  Symmetric memory((kLocks + 1) * sizeof(long));
  long* const locks = memory.as<long>();
  if (context.options.validate) check(context, locks, locks + kLocks);
  const auto [near, far] = near_and_far(context, locks);
  const bool first = context.pe == 0;
  context.add_latency("near", 0, measure(context, first, first, [&] { set_and_clear(locks + near); }));
  context.add_latency("far", 0, measure(context, first, first, [&] { set_and_clear(locks + far); }));
  if (context.npes > 1) context.add_latency("handover", 0, {handover(context, locks)});
}

const Register bench({"lock_lat", "set_lock and clear_lock: us", Place::all, {0, 0}, lock_lat});

}  // namespace
}  // namespace railshmem::perf
