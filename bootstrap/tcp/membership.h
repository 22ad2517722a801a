// SPDX-License-Identifier: BSD-3-Clause
// What members read: their seat, from PE 0, and the names of their children.
#pragma once

#include "bootstrap/tcp/address.h"
#include "bootstrap/tcp/protocol.h"

namespace railshmem::tcp {

struct Seat {
  Key tree_key;
  int parent;
  Address parent_address;
};

/// Throws Error when it is not a PE of a job of `npes` PEs.
Seat read_seat(const Bytes& payload, int npes);

/// The PE that greets as a child in the tree of this key; -1 when it is not one.
int child_named_in(const Bytes& claim, const Key& tree_key) noexcept;

}  // namespace railshmem::tcp
