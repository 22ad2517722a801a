// SPDX-License-Identifier: BSD-3-Clause
// active_lat: old collectives of 8 bytes, over all PEs and over all but the last.
#include "perftest/harness/measure.h"

namespace railshmem::perf {
namespace {

/// The arrays a program lends to the calls: two of each in turn, as the rules for their reuse ask for.
struct Lent {
  Symmetric memory{(4 * kWords + 2 * SHMEM_REDUCE_MIN_WRKDATA_SIZE) * sizeof(long)};
  long* const words = memory.as<long>();
  int turn = 0;
  static constexpr size_t kWords = 256;  // no library asks for more in a pSync

  Lent() {
    for (size_t i = 0; i < 2 * kWords; ++i) words[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
  }
  long* sync() { return words + static_cast<size_t>(turn ^= 1) * kWords; }
  long* work() { return words + 4 * kWords + static_cast<size_t>(turn) * SHMEM_REDUCE_MIN_WRKDATA_SIZE; }
  long* data(int which) { return words + 2 * kWords + static_cast<size_t>(which) * kWords; }
};

struct Names {
  const char* barrier;
  const char* sum;
  const char* fcollect;
};

void over(Context& context, int size, const Names& names) {
  Lent lent;
  const bool member = context.pe < size;
  const bool times = context.pe == 0;
  context.add_latency(names.barrier, 8,
                      measure(context, member, times, [&] { shmem_barrier(0, 0, size, lent.sync()); }));
  context.add_latency(names.sum, 8, measure(context, member, times, [&] {
                        long* const sync = lent.sync();
                        shmem_long_sum_to_all(lent.data(0), lent.data(1), 1, 0, 0, size, lent.work(), sync);
                      }));
  if (static_cast<size_t>(size) > Lent::kWords) return;
  context.add_latency(names.fcollect, 8, measure(context, member, times, [&] {
                        shmem_fcollect64(lent.data(0), lent.data(1), 1, 0, 0, size, lent.sync());
                      }));
}

void active_lat(Context& context) {
  over(context, context.npes, {"barrier_all_pes", "sum_all_pes", "fcollect_all_pes"});
  if (context.npes > 2) over(context, context.npes - 1, {"barrier_part", "sum_part", "fcollect_part"});
}

const Register bench({"active_lat", "collectives of active sets, 8 bytes: us", Place::all, {8, 8}, active_lat});

}  // namespace
}  // namespace railshmem::perf
