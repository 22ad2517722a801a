// SPDX-License-Identifier: BSD-3-Clause
// Blocks from every member to every other where some members are on other nodes.
#pragma once

#include "src/collective/blocks_node.h"

namespace railshmem {

/// Every member sends to every other.
void blocks_by_sending(const Blocks& blocks) noexcept;
/// Every member sends one block, meant for all others, to one member of each node, who passes the block on.
void blocks_by_rails(const Blocks& blocks) noexcept;

}  // namespace railshmem
