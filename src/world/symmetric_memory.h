// SPDX-License-Identifier: BSD-3-Clause
// The collective allocation calls (OpenSHMEM 1.6 section 9.3): the same offset on every PE, with the barriers that
// the standard asks for.
#pragma once

#include <cstddef>

#include "src/heap/heap.h"
#include "src/team/team.h"

namespace railshmem {

class SymmetricMemory {
 public:
  /// compare_requests: every PE compares its arguments with PE 0's and ends the job when they differ.
  SymmetricMemory(Team& world, Heap& heap, bool compare_requests) noexcept;

  /// nullptr on all PEs when there is no room. zero: the bytes are 0 on every PE before any PE returns.
  void* allocate(const char* function, size_t nbytes, size_t align, bool zero) noexcept;
  void* reallocate(const char* function, void* object, size_t nbytes) noexcept;
  void release(const char* function, void* object) noexcept;

 private:
  void barrier(const char* function) noexcept;
  void compare(const char* function, uint64_t nbytes, uint64_t align, uint64_t offset) noexcept;
  uint64_t offset_or_none(const void* object) const noexcept;

  Team& world_;
  PeState& state_;
  Heap& heap_;
  const bool compare_requests_;
};

}  // namespace railshmem
