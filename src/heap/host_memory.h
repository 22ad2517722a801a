// SPDX-License-Identifier: BSD-3-Clause
// The memory of one PE's segment: a memfd that the peers of the node can map too.
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "src/base/env_types.h"
#include "src/base/unique.h"

namespace railshmem {

/// Creates the memory first, without an address; the owner maps fd() (NodeArena::map_own) and then calls place().
/// Pages come into being only when they are populated or touched.
class HostMemory {
 public:
  /// Sizes are rounded up to this, the huge page.
  static constexpr size_t kAlign = size_t{2} << 20;

  /// `automatic` takes huge pages when the system has enough free ones, `on` warns when it has not.
  /// Throws Error naming SHMEM_SYMMETRIC_SIZE when the memory cannot be had.
  HostMemory(size_t nbytes, HugePagesMode mode);

  int fd() const noexcept { return fd_.get(); }
  size_t nbytes() const noexcept { return nbytes_; }
  /// From the pool of reserved huge pages (not: transparent ones).
  bool huge() const noexcept { return huge_; }
  std::byte* base() const noexcept { return base_; }

  /// Says where the owner mapped it; sets the policy of pages that do not exist yet: size, and this thread's NUMA node.
  void place(std::byte* base) noexcept;

  /// First touch by the owner, so pages lie on its node; keeps what peers have already written there.
  /// Throws Error naming SHMEM_SYMMETRIC_SIZE when the system has no memory for it: without this the program would
  /// die of SIGBUS, or by the kernel's out-of-memory killer, at some later store.
  void populate(size_t offset, size_t nbytes);
  /// Gives all pages back to the system, of all processes that map them. The addresses stay usable: pages come back as
  /// zeros.
  void drop_pages() noexcept { drop_pages(0, nbytes_); }
  void drop_pages(size_t offset, size_t nbytes) noexcept { madvise(base_ + offset, nbytes, MADV_REMOVE); }

 private:
  UniqueFd fd_;
  size_t nbytes_ = 0;
  std::byte* base_ = nullptr;
  HugePagesMode mode_;
  bool huge_ = false;
};

}  // namespace railshmem
