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
  SymmetricMemory(Team& world, Heap& heap) noexcept;

  /// nullptr on all PEs when there is no room. zero: the bytes are 0 on every PE before any PE returns.
  void* allocate(const char* function, size_t nbytes, size_t align, bool zero) noexcept;
  void* reallocate(const char* function, void* object, size_t nbytes) noexcept;
  void release(const char* function, void* object) noexcept;

 private:
  void barrier(const char* function) noexcept;

  Team& world_;
  PeState& state_;
  Heap& heap_;
};

}  // namespace railshmem
