// SPDX-License-Identifier: BSD-3-Clause
// The job's nonce, which every message carries (Nonce). Each PE adds a random share to the descriptor that all PEs
// exchange at start, so all PEs know the same nonce when they connect, and nobody else does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/proxy/post/message.h"

namespace railshmem {

/// Throws Error where the system gives no random bytes.
uint64_t random_nonce_share();

std::vector<std::byte> add_nonce_share(std::vector<std::byte> descriptor, uint64_t share);

struct JobDescriptors {
  std::vector<std::vector<std::byte>> descriptors;  ///< without the shares
  Nonce nonce;
};
/// Throws Error that names a PE whose descriptor has no share.
JobDescriptors take_nonce_shares(std::span<const std::vector<std::byte>> descriptors);

}  // namespace railshmem
