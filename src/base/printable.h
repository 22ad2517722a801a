// SPDX-License-Identifier: BSD-3-Clause
// Text for a terminal: what somebody else wrote must neither steer the terminal nor look like a line of ours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace railshmem {

/// Writes `text` to `out` with control characters, line ends, marks that turn the direction of writing, and bytes that
/// are no UTF-8 as \xNN. Ends before the first character that `room` bytes cannot take; returns the bytes written.
size_t write_printable(char* out, size_t room, std::string_view text) noexcept;

/// Returns all of `text` in that form.
std::string printable(std::string_view text);
/// The same for text of several lines, whose ends stay.
std::string printable_lines(std::string_view text);

}  // namespace railshmem
