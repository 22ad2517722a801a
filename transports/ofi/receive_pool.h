// SPDX-License-Identifier: BSD-3-Clause
// Receive buffers that stay posted on an endpoint, so that a message always finds one.
#pragma once

#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "transports/ofi/fid.h"

namespace railshmem::ofi {

inline constexpr size_t kMessageBytes = 4096;

/// `count` buffers of kMessageBytes. Owned by one thread. Outlives the endpoint that the buffers are posted on.
class ReceivePool {
 public:
  ReceivePool() = default;
  explicit ReceivePool(size_t count);

  std::span<const std::byte> memory() const noexcept { return {bytes_.get(), count_ * kMessageBytes}; }
  size_t count() const noexcept { return count_; }

  /// Posts all buffers; throws Error when the provider takes none.
  void start(fid_ep* ep, void* desc, const char* provider);
  /// Posts a buffer again after its message was handled; when the provider has no room now, retry() does it.
  void give_back(fid_ep* ep, size_t index) noexcept;
  /// Posts what give_back() could not. Returns 0 or an errno value.
  int retry(fid_ep* ep) noexcept;
  bool has_idle() const noexcept { return idle_ != 0; }

  /// True when an operation context is one of ours; then index_of() names the buffer.
  bool owns(const void* context) const noexcept {
    const auto* c = static_cast<const fi_context2*>(context);
    return c >= contexts_.get() && c < contexts_.get() + count_;
  }
  size_t index_of(const void* context) const noexcept {
    return static_cast<size_t>(static_cast<const fi_context2*>(context) - contexts_.get());
  }
  std::byte* buffer(size_t index) const noexcept { return bytes_.get() + index * kMessageBytes; }
  size_t index_of_buffer(const void* buffer) const noexcept {
    return static_cast<size_t>(static_cast<const std::byte*>(buffer) - bytes_.get()) / kMessageBytes;
  }

 private:
  struct FreeAligned {
    void operator()(std::byte* p) const noexcept { ::operator delete[](p, std::align_val_t{kMessageBytes}); }
  };
  int post(fid_ep* ep, size_t index) noexcept;

  size_t count_ = 0;
  size_t idle_ = 0;  ///< buffers that wait for retry(), listed in idle_list_
  void* desc_ = nullptr;
  std::unique_ptr<std::byte[], FreeAligned> bytes_;
  std::unique_ptr<fi_context2[]> contexts_;
  std::unique_ptr<size_t[]> idle_list_;
};

}  // namespace railshmem::ofi
