// SPDX-License-Identifier: BSD-3-Clause
// What the PEs of a node tell each other's mailboxes about allocations. Plain bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "src/base/mailbox.h"
#include "src/cuda/shareable_memory.h"

namespace railshmem {

enum class ShareMessage : uint32_t { import = 1, withdraw = 2 };

/// Extents [first_extent, first_extent + ndescriptors) of an allocation; their ShareDescriptors stand behind this in
/// the message.
struct ImportRequest {
  ShareMessage what = ShareMessage::import;
  int32_t pe = 0;        ///< the owner
  uint64_t number = 0;   ///< of the allocation, among all of the owner's; never used again
  uint64_t address = 0;  ///< of the first extent in the owner
  uint64_t nbytes = 0;   ///< of all extents
  uint32_t nextents = 0;
  uint32_t first_extent = 0;
  uint32_t ndescriptors = 0;
  uint32_t by = 0;  ///< cuda::ShareBy
};
struct ImportAnswer {
  uint64_t here = 0;    ///< where the first extent is in the answering PE; 0 until all extents have come
  uint32_t later = 0;   ///< 1: `why` will pass, at the answering PE's next call that may wait for its GPU
  char why[1012] = {};  ///< the allocation cannot be mapped; empty: it can
};

/// The owner will not use the allocation any more.
struct WithdrawRequest {
  ShareMessage what = ShareMessage::withdraw;
  int32_t pe = 0;
  uint64_t number = 0;
};
struct WithdrawAnswer {
  uint32_t unmapped = 0;  ///< 0: at this PE's next call that may wait for its GPU
};

/// More would need more descriptors at a time than a process with many has left.
inline constexpr size_t kDescriptorsPerMessage = 32;
static_assert(sizeof(ImportRequest) + kDescriptorsPerMessage * sizeof(cuda::ShareDescriptor) <= kLongestMail);

template <class T>
requires std::is_trivially_copyable_v<T>
void append(Mail& mail, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  mail.insert(mail.end(), bytes.begin(), bytes.end());
}
/// Takes a value from the front. Returns false where there are too few bytes.
template <class T>
requires std::is_trivially_copyable_v<T>
bool take(std::span<const std::byte>& mail, T& value) {
  if (mail.size() < sizeof value) return false;
  std::memcpy(static_cast<void*>(&value), mail.data(), sizeof value);
  mail = mail.subspan(sizeof value);
  return true;
}

}  // namespace railshmem
