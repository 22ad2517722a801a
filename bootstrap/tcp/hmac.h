// SPDX-License-Identifier: BSD-3-Clause
// HMAC-SHA-256 of OpenSSL's libcrypto, which is opened when a job first needs it: the library runs without.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "bootstrap/tcp/protocol.h"

namespace railshmem::tcp {

/// False where no libcrypto can be opened.
bool have_hmac() noexcept;

/// Throws Error that says what to install where there is no libcrypto.
Digest hmac(const std::string& key, std::span<const std::byte> message);

/// Takes as long whether and wherever they differ, so that nobody learns a digest byte by byte.
bool equal_digests(const Digest& a, const Digest& b);

}  // namespace railshmem::tcp
