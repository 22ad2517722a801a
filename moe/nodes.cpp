// SPDX-License-Identifier: BSD-3-Clause
#include "moe/nodes.h"

#include <shmem.h>

#include <algorithm>
#include <array>

#include "src/base/error.h"

namespace railshmem::moe {
namespace {

struct Card {
  int32_t node, index;
};
static_assert(sizeof(Card) == sizeof(uint64_t));

}  // namespace

BulkNodes nodes_of(shmem_team_t team, const shmemx_topology_t& where, Members& members, unsigned char* cards) {
  const auto n = static_cast<size_t>(members.shape.n), me = static_cast<size_t>(members.me);
  const Card mine{where.my_node, where.my_index};
  for (size_t m = 0; m < n; ++m) shmem_putmem(cards + me * sizeof mine, &mine, sizeof mine, members.pe[m]);
  shmem_quiet();
  shmem_team_sync(team);
  std::array<Card, kMostMembers> all{};
  shmem_getmem(all.data(), cards, n * sizeof mine, members.pe[me]);

  BulkNodes nodes{};
  nodes.count = where.nnodes;
  nodes.node = where.my_node;
  for (size_t m = 0; m < n; ++m) {
    nodes.node_of[m] = static_cast<uint8_t>(all[m].node);
    nodes.index_of[m] = static_cast<uint8_t>(all[m].index);
    ++nodes.first[all[m].node + 1];
    if (all[m].node != mine.node) members.memory[m] = nullptr;
    if (all[m].node == mine.node && members.memory[m] == nullptr)
      throw Error(text("the workspace is not mapped from PE %d, which is on this node; allocate it with shmem_malloc",
                       members.pe[m]));
  }
  for (int k = 0; k < nodes.count; ++k) {
    nodes.largest = std::max(nodes.largest, int32_t{nodes.first[k + 1]});
    nodes.first[k + 1] = static_cast<uint8_t>(nodes.first[k + 1] + nodes.first[k]);
  }
  for (size_t m = 0; m < n; ++m) nodes.by_node[nodes.first[all[m].node] + all[m].index] = static_cast<uint8_t>(m);
  return nodes;
}

}  // namespace railshmem::moe
