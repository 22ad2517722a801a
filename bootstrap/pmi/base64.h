// SPDX-License-Identifier: BSD-3-Clause
// Bytes as text that a PMI value may hold: no blank, newline or '='.
#pragma once

#include <string>
#include <string_view>

#include "bootstrap/common/pack.h"

namespace railshmem::pmi {

/// Base64 of RFC 4648 without padding.
std::string encode_base64(std::span<const std::byte> bytes);
/// Throws Error on characters outside the alphabet or an impossible length.
Bytes decode_base64(std::string_view text);

}  // namespace railshmem::pmi
