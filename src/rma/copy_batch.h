// SPDX-License-Identifier: BSD-3-Clause
// Copies of one step of a collective: one by one where the CPU does them, all at once where copy engines do.
#pragma once

#include <cstring>

#include "src/rma/copy.h"

namespace railshmem {

/// Copies within mapped memory that do not depend on each other. All are complete after finish(), some before.
class CopyBatch {
 public:
  /// `device` is PeState::device.
  explicit CopyBatch(DeviceAccess* device) noexcept : device_(device) {}
  CopyBatch(const CopyBatch&) = delete;
  ~CopyBatch() { finish(); }

  /// Whether copies may wait for finish().
  bool waits() const noexcept { return device_ != nullptr; }

  [[gnu::always_inline]] void add(void* to, const void* from, size_t nbytes) noexcept {
    if (!device_) [[likely]]
      return copy_block(to, from, nbytes);
    keep({to, from, nbytes});
  }
  /// Adds a copy whose data may be in place already (to == from); does nothing then.
  void add_own(void* to, const void* from, size_t nbytes) noexcept {
    if (to != from && nbytes > 0) add(to, from, nbytes);
  }
  void finish() noexcept {
    if (count_ > 0) device_->copy_all({kept_, count_});
    count_ = 0;
  }

 private:
  static constexpr size_t kMost = 64;

  void keep(const DeviceCopy& copy) noexcept {
    if (count_ == kMost) finish();
    kept_[count_++] = copy;
  }

  DeviceAccess* const device_;
  size_t count_ = 0;
  DeviceCopy kept_[kMost];  // uninitialised: costs nothing where it is not used
};

}  // namespace railshmem
