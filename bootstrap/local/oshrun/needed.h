// SPDX-License-Identifier: BSD-3-Clause
// The shared libraries that a program asks for (DT_NEEDED), read from its file without running it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace railshmem::oshrun {

/// Of the bytes of an ELF file of this machine's kind; empty for all others, damaged ones too.
std::vector<std::string> needed_libraries(std::span<const std::byte> file);

/// Another OpenSHMEM library that the program is linked with, such as "liboshmem.so.40"; empty if there is no such
/// library, or if the program is linked with this one too. `program` as execvp() takes it: without a slash it is looked
/// for in PATH.
std::string foreign_openshmem(const std::string& program);

}  // namespace railshmem::oshrun
