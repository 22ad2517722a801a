// SPDX-License-Identifier: BSD-3-Clause
// Copies between GPU memory and pageable host memory, right behind a collective on the stream. The driver keeps the
// program's thread in such a copy until the collective has ended, and holds locks meanwhile, which the library's own
// threads must not need. One PE comes late, so that the others are in their copies before the collective moves.
#include <shmem.h>
#include <shmemx.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::StreamDriver;

int me = 0, npes = 0, failures = 0;

enum class Kind { gather, sum, deal, broadcast };
constexpr Kind kKinds[] = {Kind::gather, Kind::sum, Kind::deal, Kind::broadcast};
constexpr const char* kNames[] = {"all-gather", "all-reduce", "reduce-scatter", "broadcast"};
constexpr size_t kMost = 1u << 20;  // elements of a member
constexpr size_t kSizes[] = {1, 1000, 300'000, kMost};

long value_of(int pe, size_t i, int round) {
  return pe * 1'000'003L + static_cast<long>(i) * 7 + round;
}

struct Arrays {
  long* source = static_cast<long*>(shmem_malloc(kMost * static_cast<size_t>(npes) * sizeof(long)));
  long* dest = static_cast<long*>(shmem_malloc(kMost * static_cast<size_t>(npes) * sizeof(long)));
};

void give(Kind kind, const Arrays& arrays, size_t n, shmemx_stream_t stream) {
  switch (kind) {
    case Kind::gather:
      return (void)shmemx_long_fcollect_on_stream(SHMEM_TEAM_WORLD, arrays.dest, arrays.source, n, stream);
    case Kind::sum:
      return (void)shmemx_long_sum_reduce_on_stream(SHMEM_TEAM_WORLD, arrays.dest, arrays.source, n, stream);
    case Kind::deal:
      return (void)shmemx_long_sum_reducescatter_on_stream(SHMEM_TEAM_WORLD, arrays.dest, arrays.source, n, stream);
    case Kind::broadcast:
      return (void)shmemx_long_broadcast_on_stream(SHMEM_TEAM_WORLD, arrays.dest, arrays.source, n, 0, stream);
  }
}

/// Element i of a member's dest.
long right(Kind kind, size_t i, size_t n, int round) {
  if (kind == Kind::gather) return value_of(static_cast<int>(i / n), i % n, round);
  if (kind == Kind::broadcast) return value_of(0, i, round);
  const size_t at = kind == Kind::deal ? static_cast<size_t>(me) * n + i : i;
  long sum = 0;
  for (int pe = 0; pe < npes; ++pe) sum += value_of(pe, at, round);
  return sum;
}

/// The next round's source goes up, and this round's dest comes down, both by pageable memory.
void check(const StreamDriver& driver, const Arrays& arrays, Kind kind, size_t n, int round) {
  const size_t source_size = kind == Kind::deal ? n * static_cast<size_t>(npes) : n;
  const size_t dest_size = kind == Kind::gather ? n * static_cast<size_t>(npes) : n;
  std::vector<long> source(source_size), seen(dest_size, -1);
  for (size_t i = 0; i < source_size; ++i) source[i] = value_of(me, i, round);
  if (round % npes == me) usleep(20'000);
  driver.call("cuMemcpyAsync", static_cast<void*>(arrays.source), static_cast<const void*>(source.data()),
              source_size * sizeof(long), driver.stream);
  give(kind, arrays, n, driver.stream);
  driver.call("cuMemcpyAsync", static_cast<void*>(seen.data()), static_cast<void*>(arrays.dest),
              dest_size * sizeof(long), driver.stream);
  driver.synchronize();
  for (size_t i = 0; i < dest_size; ++i) {
    if (seen[i] == right(kind, i, n, round)) continue;
    ++failures;
    std::printf("FAILED: PE %d: %s of %zu elements, round %d: element %zu is %ld, expected %ld\n", me,
                kNames[static_cast<int>(kind)], n, round, i, seen[i], right(kind, i, n, round));
    return;
  }
}

}  // namespace

int main() {
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const Arrays arrays;
    const StreamDriver driver;
    int round = 0;
    for (const size_t n : kSizes)
      for (const Kind kind : kKinds)
        for (int again = 0; again < npes + 1; ++again) {
          check(driver, arrays, kind, n, round++);
          if (me == 0 && again == 0) std::fprintf(stderr, "%s of %zu elements\n", kNames[static_cast<int>(kind)], n);
        }
    shmem_barrier_all();
  }
  if (me == 0 && failures == 0) std::printf("pageable_copies: all right\n");
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
