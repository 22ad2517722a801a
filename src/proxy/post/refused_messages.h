// SPDX-License-Identifier: BSD-3-Clause
// Messages that an endpoint has dropped. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/proxy/post/message_check.h"

namespace railshmem {

class RefusedMessages {
 public:
  /// Counts a message, and warns of it: of the first one at once, of later ones at most every ten seconds, so that
  /// nobody can fill a disk with warnings.
  [[gnu::cold]] void add(Flaw flaw, const std::byte* bytes, size_t nbytes, const std::string& rail,
                         uint64_t now_ns) noexcept;

 private:
  uint64_t count_ = 0;
  uint64_t told_ = 0;  ///< of them, by the last warning
  uint64_t told_ns_ = 0;
};

/// "it does not carry this job's nonce"
const char* describe(Flaw flaw) noexcept;
/// The warning about one message.
std::string describe_refused(Flaw flaw, const std::byte* bytes, size_t nbytes, const std::string& rail);

}  // namespace railshmem
