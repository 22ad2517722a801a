// SPDX-License-Identifier: BSD-3-Clause
// Parts of symmetric memory that are tensors as long as anybody uses them: railshmem.fsdp.Pool.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/src/arena.h"

namespace railshmem::python {

/// Hands out parts of a block, on the GPU of this number or on the CPU (kOnHost). A part is free again when the last
/// tensor lets go of it: in any thread, without the GIL, also at the end of the process. The memory outlives them.
class Leases {
 public:
  Leases(uintptr_t begin, size_t nbytes, int device) : device_(device), kept_(std::make_shared<Kept>(begin, nbytes)) {}

  /// A capsule of DLPack for a tensor of this shape, whose element has a code of DLPack and so many bits. None where no
  /// part is long enough.
  nanobind::object take(const std::vector<int64_t>& shape, uint8_t code, uint8_t bits);
  /// Parts that are in use.
  size_t count() const noexcept { return kept_->count.load(std::memory_order_relaxed); }

 private:
  struct Kept {
    Kept(uintptr_t begin, size_t nbytes) : arena(begin, nbytes) {}
    Arena arena;
    std::atomic<size_t> count{0};  ///< relaxed: for people
  };
  struct Lease;

  const int device_;
  const std::shared_ptr<Kept> kept_;  // shared with leases, which may outlive this
};

void bind_leases(nanobind::module_& module);

}  // namespace railshmem::python
