// SPDX-License-Identifier: BSD-3-Clause
// Buffers outside the symmetric memory that the program registered ahead of their use.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "src/plugin/network.h"
#include "src/rma/pe_state.h"

namespace railshmem {

/// Keeps books with every transport, so that a program's mistake shows also where nothing needs registration. Any
/// thread may call everything. All functions throw Error.
class UserBuffers {
 public:
  /// `state` must outlive this; its network may be null.
  explicit UserBuffers(const PeState& state) noexcept : state_(state) {}
  UserBuffers(const UserBuffers&) = delete;

  void add(const void* address, size_t nbytes);
  /// `address` is the one that was given to add().
  void remove(const void* address);
  void remove_all();
  size_t count() const;

 private:
  struct Buffer {
    size_t nbytes;
    bool by_network;  ///< the network knows the buffer; GPU memory is staged and needs no registration
  };
  using Books = std::map<const std::byte*, Buffer>;  ///< by first byte; no two buffers overlap
  void check_new(const std::byte* begin, size_t nbytes) const;

  const PeState& state_;
  mutable std::mutex mutex_;
  Books buffers_;
};

}  // namespace railshmem
