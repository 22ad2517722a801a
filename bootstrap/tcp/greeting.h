// SPDX-License-Identifier: BSD-3-Clause
// The first words of the end that connects; pending_connections.h has the listener's.
#pragma once

#include <optional>

#include "bootstrap/common/deadline.h"
#include "bootstrap/common/stream.h"
#include "bootstrap/tcp/secret.h"

namespace railshmem::tcp {

/// What came of it. Everything but `welcome` leaves the connection useless.
enum class Reception : uint8_t {
  welcome,       ///< the right listener, which knows the secret if there is one
  silence,       ///< no answer in time, the end of the connection, or words of another protocol
  asks_secret,   ///< it wants a proof, and we have no secret
  denies_ours,   ///< our proof does not satisfy it
  lacks_secret,  ///< it answers without the proof that we want
};

/// Says `claim` over a fresh connection to `port`, and proves both ends to each other where there is a secret. The
/// stream stays distrusted.
Reception introduce(Stream& stream, int port, uint32_t kind, Bytes claim, const Secret& secret, Deadline deadline);

/// For messages: "it asks for a secret, and SHMEM_TCP_SECRET is not set here", or the like.
const char* explain(Reception reception) noexcept;

/// The next message, or nothing when the time is over or the stream ended.
std::optional<Frame> next_frame(Stream& stream, Deadline deadline);

}  // namespace railshmem::tcp
