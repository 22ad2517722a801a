// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/workspace.h"

#include <shmemx.h>

#include <algorithm>

#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

constexpr size_t kAlign = 256;

/// From `memory` to the next multiple of kAlign. Bases of heaps are multiples of more, so that all members skip as
/// much.
size_t skipped(const void* memory) noexcept {
  return (kAlign - reinterpret_cast<uintptr_t>(memory) % kAlign) % kAlign;
}

Words words_at(std::byte* base, size_t n) noexcept {
  auto* const first = reinterpret_cast<uint64_t*>(base);
  uint64_t *const arrived = first + 2 * n, *const ready = arrived + n * kMostPieces,
                  *const done = ready + n * kMostPieces;
  return {first, first + n, arrived, ready, done, done + kMostPieces};
}

}  // namespace

size_t Workspace::words_nbytes(int n) noexcept {
  const size_t members = static_cast<size_t>(n);
  const size_t words = 2 * members + 2 * members * kMostPieces + kMostPieces + 1;
  return (words * sizeof(uint64_t) + kAlign - 1) / kAlign * kAlign;
}

size_t Workspace::nbytes(int n, size_t partial_nbytes) noexcept {
  const size_t members = static_cast<size_t>(n), part = (partial_nbytes + members - 1) / members;
  const size_t parts = n < 2 ? 0 : 2 * (members - 1);
  return kAlign + words_nbytes(n) + kProductStreams * kProducts + parts * part;
}

Workspace::Workspace(shmem_team_t team, int me, int n, bool mapped, void* memory, size_t nbytes)
    : me_(me), n_(n), base_(static_cast<std::byte*>(memory) + skipped(memory)), nbytes_(nbytes) {
  const size_t least = Workspace::nbytes(n, 0);
  if (memory == nullptr || nbytes < least)
    throw Error(
        text("workspace %p has %zu bytes; a team of %d needs at least %zu (shmemx_overlap_workspace), of shmem_malloc",
             memory, nbytes, n, least));
  if (reinterpret_cast<uintptr_t>(memory) % 16 != 0)
    throw Error(text("workspace %p does not begin at a multiple of 16 bytes; allocate it with shmem_malloc", memory));
  if (shmem_addr_accessible(memory, shmem_my_pe()) == 0)
    throw Error(text("workspace %p is no symmetric memory; allocate it with shmem_malloc", memory));
  for (int k = 0; k < n; ++k) {
    pes_.push_back(shmem_team_translate_pe(team, k, SHMEM_TEAM_WORLD));
    void* const there = k == me ? memory : mapped ? shmem_ptr(memory, pes_.back()) : nullptr;
    if (mapped && there == nullptr)
      throw Error(text("workspace %p is not mapped from PE %d; allocate it with shmem_malloc", memory, pes_.back()));
    std::byte* const base = there == nullptr ? nullptr : static_cast<std::byte*>(there) + skipped(memory);
    bases_.push_back(base);
    words_.push_back(base != nullptr ? words_at(base, static_cast<size_t>(n)) : Words{});
  }
}

}  // namespace railshmem::overlap
