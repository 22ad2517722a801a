// SPDX-License-Identifier: BSD-3-Clause
// TCP sockets: listen, connect within a deadline, accept.
#pragma once

#include "bootstrap/common/deadline.h"
#include "bootstrap/tcp/address.h"
#include "src/base/unique.h"

namespace railshmem::tcp {

/// A listening socket; none, with errno set, when the address cannot be bound.
UniqueFd listen_on(const Address& address) noexcept;
/// A connected socket; none, with errno set, when nobody answers in time.
UniqueFd connect_to(const Address& address, Deadline deadline) noexcept;
/// The next connection that waits; empty if none waits.
UniqueFd accept_from(int listener) noexcept;

}  // namespace railshmem::tcp
