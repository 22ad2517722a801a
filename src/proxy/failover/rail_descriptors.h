// SPDX-License-Identifier: BSD-3-Clause
// How the rails of one port are reached that were opened anew. Empty, and nothing allocated, while all rails live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "src/proxy/post/header_builder.h"
#include "src/proxy/post/message.h"

namespace railshmem {

/// A descriptor may come twice, over several rails, and behind a newer one: the messages of one rail are numbered.
class RailDescriptors {
 public:
  /// The message for peers, from now on until the rail is opened once more.
  void set(const HeaderBuilder& headers, size_t r, const std::vector<std::byte>& descriptor) {
    if (r >= messages_.size()) messages_.resize(r + 1);
    DescriptorMessage message{headers.bare(MessageKind::descriptor), static_cast<uint32_t>(descriptor.size()),
                              static_cast<uint32_t>(r)};
    message.header.sequence = ++issued_;
    std::vector<std::byte> bytes(sizeof message + descriptor.size());
    std::memcpy(bytes.data(), &message, sizeof message);
    std::memcpy(bytes.data() + sizeof message, descriptor.data(), descriptor.size());
    messages_[r] = std::move(bytes);
  }
  /// Empty for a rail that is reached as it was at the start.
  std::span<const std::byte> message(size_t r) const noexcept {
    return r < messages_.size() ? std::span<const std::byte>(messages_[r]) : std::span<const std::byte>();
  }

 private:
  std::vector<std::vector<std::byte>> messages_;  ///< by rail
  uint32_t issued_ = 0;
};

}  // namespace railshmem
