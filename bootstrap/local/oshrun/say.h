// SPDX-License-Identifier: BSD-3-Clause
// What oshrun itself says, and how it writes what PEs say.
#pragma once

#include <string_view>

namespace railshmem::oshrun {

/// One line on stderr with the prefix "oshrun: ". Names of programs and hosts, and what other hosts say, may be in it:
/// control characters leave as \xNN.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept;

/// Whole lines of somebody else, which have their prefix already; control characters as in say().
void say_lines(std::string_view lines);

/// Writes everything, also to a descriptor that somebody has made non-blocking. False: nobody reads there any more.
bool write_all(int fd, std::string_view bytes) noexcept;

}  // namespace railshmem::oshrun
