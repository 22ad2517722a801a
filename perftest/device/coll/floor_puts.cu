// SPDX-License-Identifier: BSD-3-Clause
// floor_puts: every PE's block to every other by puts of the host, of up to 1 MiB, all PEs at once: what the bytes of
// an all-gather between nodes cost at least. bytes: the full vector; PEs do not put their own block.
#include <shmem.h>

#include <algorithm>
#include <chrono>

#include "perftest/device/coll/kind.h"
#include "perftest/device/context.cuh"

namespace railshmem::perf::gpu::coll::floors {
namespace {

constexpr uint64_t kPutBytes = uint64_t{1} << 20;

struct Puts {
  int pe, npes;
  char* vector;
  const char* block;
  uint64_t nbytes;  ///< of a block

  void run() const {
    for (uint64_t at = 0; at < nbytes; at += kPutBytes)
      for (int i = 1; i < npes; ++i)
        shmem_putmem_nbi(vector + static_cast<uint64_t>(pe) * nbytes + at, block + at, std::min(kPutBytes, nbytes - at),
                         (pe + i) % npes);
    shmem_quiet();
  }
};

/// PE 0's times, from one barrier to the next.
std::vector<double> timed(const Puts& puts, long iters, int repetitions) {
  std::vector<double> seconds;
  for (int r = -1; r < repetitions; ++r) {
    shmem_barrier_all();
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < iters; ++i) puts.run();
    shmem_barrier_all();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (r >= 0 && puts.pe == 0) seconds.push_back(took.count());
  }
  return seconds;
}

void run_puts(Context& context) {
  const uint64_t largest = context.largest() + 16 * static_cast<uint64_t>(context.npes);
  const Symmetric vector(largest), block(largest / static_cast<uint64_t>(context.npes) + 16);
  for (const uint64_t size : context.sizes) {
    const Shape shape = shape_of(Kind::allgather, Dtype::uint8, size, context.npes);
    const long iters = repeats_of(shape.bytes, context.options.common.iters).calls();
    const Puts puts{context.pe, context.npes, vector.as<>(), block.as<>(), shape.block_bytes};
    const std::vector<double> seconds = timed(puts, iters, context.options.common.repetitions);
    Row row = context.row("latency", "us", shape.bytes, 0, 0);
    row.variant = {"host", name_of(Memory::heap), "", false};
    row.iters = iters * context.options.common.repetitions;
    if (!seconds.empty()) {
      set_time(row, seconds, static_cast<double>(iters));
      set_bandwidths(row, bus_factor(Kind::allgather, context.npes));
    }
    context.add(std::move(row));
  }
}

const Register floor_of_puts[] = {
    Register({"floor_puts",
              "every PE's block to every other by puts of the host of 1 MiB, all at once",
              Part::all,
              Range{uint64_t{1} << 20, uint64_t{64} << 20},
              {Scope::thread},
              false,
              run_puts}),
};

}  // namespace
}  // namespace railshmem::perf::gpu::coll::floors
