// SPDX-License-Identifier: BSD-3-Clause
// The collective allocation calls (OpenSHMEM 1.6 section 9.3): one offset on all PEs, with the barriers that the
// standard asks for.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "src/gpu/device_memory.h"
#include "src/heap/heap.h"
#include "src/team/team.h"

namespace railshmem {

/// The heap that shmem_malloc means, and the heap in host memory beside it.
class SymmetricMemory {
 public:
  /// `device` null: there is only the heap in host memory. `attach` is called before the first use of `device`. PEs
  /// vote on new pages of `heap` from here on.
  SymmetricMemory(Team& world, Heap& heap, DeviceMemory* device, std::function<void()> attach) noexcept;

  /// Allocates in the program's heap. Returns nullptr on all PEs when there is no room. zero: the bytes are 0 on every
  /// PE before any PE returns.
  void* allocate(const char* function, size_t nbytes, size_t align, bool zero, Updates updates = Updates::any) noexcept;
  /// Allocates in host memory, also where the program's heap is in device memory.
  void* allocate_host(const char* function, size_t nbytes, size_t align, bool zero) noexcept;
  /// An `object` that is no block: a message; nothing changes, and the result is nullptr. release() does the same.
  void* reallocate(const char* function, void* object, size_t nbytes) noexcept;
  void release(const char* function, void* object) noexcept;

  /// Why `object` cannot be freed or resized; empty where it can, and for nullptr.
  std::string why_no_block(const void* object) const;

 private:
  void barrier(const char* function) noexcept;
  void say_full(const std::string& why, bool warns) noexcept;
  void say_host_full(const char* function, size_t nbytes);
  void* place_on_device(size_t nbytes, size_t align, bool zero, Updates updates);
  void refuse(const char* function, const void* object, const char* outcome) const;
  void* resize(const char* function, void* object, size_t nbytes);
  size_t size_of(const void* object) const noexcept;

  Team& world_;
  PeState& state_;
  Heap& heap_;
  DeviceMemory* const device_;
  const std::function<void()> attach_;
  bool said_full_ = false;
};

}  // namespace railshmem
