// SPDX-License-Identifier: BSD-3-Clause
// Messages to the mailboxes of other processes of this host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "src/base/mailbox.h"

namespace railshmem {

/// Whom a message goes to, and how long to wait.
struct Addressee {
  MailAddress address;
  std::string name;          ///< for errors: "PE 3"
  uint64_t patience_ns = 0;  ///< kNoLimitNs: forever
  /// Why nobody will answer any more, as a sentence; empty while the addressee lives. Asked every 20 ms. May be empty.
  std::function<std::optional<std::string>()> death = {};
};

/// Sends a message and returns the answer. Throws Error naming the addressee when none comes: it has died, ends, or has
/// not answered in time.
Mail ask(const Addressee& to, std::span<const std::byte> message);

/// Sends a message and waits for nothing but its delivery, 1 s at most. Returns false where it could not be delivered.
bool notify(const MailAddress& to, std::span<const std::byte> message) noexcept;

}  // namespace railshmem
