// SPDX-License-Identifier: BSD-3-Clause
// What oshrun itself says, and how it writes what PEs say.
#pragma once

#include <string_view>

namespace railshmem::oshrun {

/// One line on stderr with the prefix "oshrun: ".
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

/// Writes everything, also to a descriptor that somebody has made non-blocking. False: nobody reads there any more.
bool write_all(int fd, std::string_view bytes) noexcept;

}  // namespace railshmem::oshrun
