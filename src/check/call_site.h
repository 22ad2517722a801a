// SPDX-License-Identifier: BSD-3-Clause
// Which line of the program called the library: for the messages of SHMEM_CHECK.
#pragma once

#include <array>

namespace railshmem::check {

/// "main+0x4f in ./program (addr2line -fe ./program 0x12ae)"
using CallSite = std::array<char, 192>;

/// Of the innermost caller outside the library, on the calling thread.
[[gnu::noinline]] CallSite find_call_site() noexcept;

}  // namespace railshmem::check
