// SPDX-License-Identifier: BSD-3-Clause
// Calls that block, right behind a collective on a stream: copies between GPU memory and pageable host memory, on a
// stream of the program's and on the legacy default stream, and cuMemFree. The driver keeps the program's thread in
// such a call until the collective has ended, and holds locks meanwhile, which the library's own threads must not need.
// The buffers lie in the heap, or in plain memory (cuMemAlloc). One PE comes late, so that the others are in their
// calls before the collective moves.
#include <shmem.h>
#include <shmemx.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::StreamDriver;

int me = 0, npes = 0, failures = 0;
const bool emulated = std::getenv("RAILSHMEM_FAKE_GPUS") != nullptr;  // the CPUs copy, and who waits does not sleep

enum class Kind { gather, sum, deal, broadcast };
constexpr Kind kKinds[] = {Kind::gather, Kind::sum, Kind::deal, Kind::broadcast};
constexpr const char* kNames[] = {"all-gather", "all-reduce", "reduce-scatter", "broadcast"};
constexpr size_t kMost = 1u << 18;  // elements of a member
constexpr size_t kSizes[] = {1, 1000, 40'000, kMost};

long value_of(int pe, size_t i, int round) {
  return pe * 1'000'003L + static_cast<long>(i) * 7 + round;
}

struct Arrays {
  long* source;
  long* dest;
};
size_t array_nbytes() {
  return kMost * static_cast<size_t>(npes) * sizeof(long);
}
void* allocate(const StreamDriver& driver, size_t nbytes) {
  void* memory = nullptr;
  driver.call("cuMemAlloc_v2", &memory, nbytes);
  return memory;
}

/// Where a round takes place, and which call follows its collective.
struct Scene {
  const char* name;
  Arrays arrays;
  shmemx_stream_t stream;
  bool frees;  ///< cuMemFree right behind the collective
};

void give(Kind kind, const Arrays& arrays, size_t n, shmemx_stream_t stream) {
  constexpr int kCollectives[] = {SHMEMX_COLL_ALLGATHER, SHMEMX_COLL_ALLREDUCE, SHMEMX_COLL_REDUCESCATTER,
                                  SHMEMX_COLL_BROADCAST};
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  coll.collective = kCollectives[static_cast<int>(kind)];
  coll.datatype = SHMEMX_DATATYPE_INT64;
  coll.nelems = n;
  coll.source = arrays.source;
  coll.dest = arrays.dest;
  if (shmemx_coll_on_stream(&coll, stream) != 0) shmem_global_exit(3);
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
void check(const StreamDriver& driver, const Scene& scene, Kind kind, size_t n, int round) {
  const Arrays& arrays = scene.arrays;
  const shmemx_stream_t stream = scene.stream;
  const size_t source_size = kind == Kind::deal ? n * static_cast<size_t>(npes) : n;
  const size_t dest_size = kind == Kind::gather ? n * static_cast<size_t>(npes) : n;
  std::vector<long> source(source_size), seen(dest_size, -1);
  for (size_t i = 0; i < source_size; ++i) source[i] = value_of(me, i, round);
  if (round % npes == me) usleep(emulated ? 5'000 : 20'000);
  driver.call("cuMemcpyAsync", static_cast<void*>(arrays.source), static_cast<const void*>(source.data()),
              source_size * sizeof(long), stream);
  void* const other = scene.frees ? allocate(driver, 4096) : nullptr;
  give(kind, arrays, n, stream);
  if (other) driver.call("cuMemFree_v2", other);
  driver.call("cuMemcpyAsync", static_cast<void*>(seen.data()), static_cast<void*>(arrays.dest),
              dest_size * sizeof(long), stream);
  driver.call("cuStreamSynchronize", stream);
  for (size_t i = 0; i < dest_size; ++i) {
    if (seen[i] == right(kind, i, n, round)) continue;
    ++failures;
    std::printf("FAILED: PE %d: %s: %s of %zu elements, round %d: element %zu is %ld, expected %ld\n", me, scene.name,
                kNames[static_cast<int>(kind)], n, round, i, seen[i], right(kind, i, n, round));
    return;
  }
}

}  // namespace

/// `pageable_copies heap`: only buffers in the heap.
int main(int argc, char** argv) {
  const bool heap_only = argc > 1 && std::strcmp(argv[1], "heap") == 0;
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const Arrays heap{static_cast<long*>(shmem_malloc(array_nbytes())),
                      static_cast<long*>(shmem_malloc(array_nbytes()))};
    const StreamDriver driver;  // the first allocation has chosen the GPU
    const Arrays plain{static_cast<long*>(allocate(driver, array_nbytes())),
                       static_cast<long*>(allocate(driver, array_nbytes()))};
    const Scene scenes[] = {{"heap, a stream", heap, driver.stream, false},
                            {"heap, the default stream", heap, nullptr, false},
                            {"plain memory, a stream", plain, driver.stream, false},
                            {"plain memory, the default stream", plain, nullptr, false},
                            {"plain memory, a stream, and cuMemFree", plain, driver.stream, true}};
    int round = 0;
    for (const Scene& scene : scenes) {
      if (heap_only && scene.arrays.source != heap.source) continue;
      for (const size_t n : kSizes) {
        if (emulated && n == kMost) continue;
        for (const Kind kind : kKinds) {
          if (me == 0) std::fprintf(stderr, "%s: %s of %zu elements\n", scene.name, kNames[static_cast<int>(kind)], n);
          for (int again = 0; again < npes + 1; ++again) check(driver, scene, kind, n, round++);
        }
      }
    }
    shmem_barrier_all();
  }
  if (me == 0 && failures == 0) std::printf("pageable_copies: all right\n");
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
