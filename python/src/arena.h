// SPDX-License-Identifier: BSD-3-Clause
// A block of symmetric memory that is handed out in pieces, locally.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace railshmem::python {

/// First fit by address, so that PEs that ask for equal sizes in one order get equal offsets. Makes no call of CUDA or
/// of the library, so graphs may be captured meanwhile. Any thread, without the GIL.
class Arena {
 public:
  /// Torch's allocator hands out parts of pieces at multiples of this.
  static constexpr size_t kAlign = 512;

  Arena(uintptr_t begin, size_t nbytes) : begin_(begin), end_(begin + nbytes) { free_[begin] = nbytes; }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Null where no hole is large enough, or the arena is closed.
  void* take(size_t nbytes) noexcept;
  /// False where the address is no piece that was taken.
  bool give_back(uintptr_t address) noexcept;
  /// The memory is gone: nothing is handed out any more.
  void close() noexcept;

 private:
  void join(std::map<uintptr_t, size_t>::iterator hole);

  const uintptr_t begin_, end_;
  std::mutex mutex_;                   ///< guards everything below
  std::map<uintptr_t, size_t> free_;   ///< holes: address and bytes; no two touch
  std::map<uintptr_t, size_t> taken_;  ///< pieces
};

}  // namespace railshmem::python
