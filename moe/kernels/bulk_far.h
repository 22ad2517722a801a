// SPDX-License-Identifier: BSD-3-Clause
// Many tokens between nodes: who is where, and what a member's memory has beside BulkLayout. A token crosses once to
// another node, in a chunk of tokens, to the gateway: the member there that has the sender's place in its own node.
#pragma once

#include "moe/kernels/bulk.h"
#include "moe/kernels/chunks.h"

namespace railshmem::moe {

/// The team's nodes, and where this member is. Members of a node are numbered in the order of ranks.
struct BulkNodes {
  int32_t count, node;              ///< nodes, and this member's
  int32_t largest;                  ///< members of the largest node
  uint8_t node_of[kMostMembers];    ///< of members
  uint8_t index_of[kMostMembers];   ///< of members, in their nodes
  uint8_t first[kMostMembers + 1];  ///< of nodes: where their members begin in by_node
  uint8_t by_node[kMostMembers];    ///< members in the order of nodes

  RAILSHMEM_HD int32_t size(int32_t node_number) const { return first[node_number + 1] - first[node_number]; }
  RAILSHMEM_HD int32_t member(int32_t node_number, int32_t number) const {
    return by_node[first[node_number] + number];
  }
  /// The member of a node that takes in what member `s` of another one sends there.
  RAILSHMEM_HD int32_t gateway(int32_t s, int32_t node_number) const {
    return member(node_number, index_of[s] % size(node_number));
  }
  /// Node `steps` behind this one, from 1 on.
  RAILSHMEM_HD int32_t after(int32_t steps) const {
    const int32_t sum = node + steps;
    return sum < count ? sum : sum - count;
  }
  RAILSHMEM_HD int32_t far_members() const { return first[count] - size(node); }
  /// Member k of those on other nodes, the next node's first.
  RAILSHMEM_HD int32_t far_member(int32_t k) const {
    const int32_t at = first[node + 1] + k;
    return by_node[at < first[count] ? at : at - first[count]];
  }
  /// That k.
  RAILSHMEM_HD uint32_t number_among_far(int32_t m) const {
    const int32_t at = first[node_of[m]] + index_of[m] - first[node + 1];
    return static_cast<uint32_t>(at < 0 ? at + first[count] : at);
  }
};

/// Offsets in the memory of a member of a team over several nodes. Rows of BulkLayout have room for a packed token.
class FarLayout {
 public:
  RAILSHMEM_HD FarLayout(int32_t n, int32_t max_tokens, int32_t hidden, uint64_t row_nbytes)
      : near_(n, max_tokens, row_nbytes),
        n_(static_cast<uint64_t>(n)),
        most_(static_cast<uint64_t>(max_tokens)),
        chunks_(1 + most_ / Chunks::rows(near_.row_stride(), max_tokens)) {
    const uint64_t of_combine = 1 + most_ / Chunks::rows(2 * static_cast<uint64_t>(hidden), max_tokens);
    if (of_combine > chunks_) chunks_ = of_combine;
  }

  /// A token as it travels has its channels, its words, and a header of numbers: its own, and for each member of the
  /// node its number there, or -1.
  RAILSHMEM_HD static uint64_t header_nbytes(int32_t members) { return 4 * (uint64_t(members) + 1); }
  RAILSHMEM_HD static uint64_t packed_nbytes(uint64_t row_nbytes, int32_t members) {
    return BulkLayout::aligned(row_nbytes + header_nbytes(members));
  }

  /// Warps that have packed all their tokens.
  RAILSHMEM_HD uint64_t packed() const { return words(); }
  // For each target: another node of a dispatch, a far member of a combine.
  /// Tokens that have a place.
  RAILSHMEM_HD uint64_t taken(uint32_t target) const { return words() + 64 * (1 + uint64_t{target}); }
  /// Rows of a chunk that are packed.
  RAILSHMEM_HD uint64_t filled(uint32_t target, uint32_t chunk) const {
    return fills() + 8 * (target * chunks_ + chunk);
  }
  /// Where rows are packed.
  RAILSHMEM_HD uint64_t pack(uint32_t target) const { return packs() + target * most_ * near_.row_stride(); }
  /// Chunk of member m is here: the number of the call, and the rows in it. Fewer than the most: it is the last one.
  RAILSHMEM_HD uint64_t word(BulkLayout::Kind kind, int32_t m, uint32_t chunk) const {
    return signals() + 8 * ((kind * n_ + uint64_t(m)) * chunks_ + chunk);
  }
  /// What member m says of its place when a handle is made.
  RAILSHMEM_HD uint64_t card(int32_t m) const { return cards() + 8 * uint64_t(m); }
  /// Where chunks of member m come: a dispatch's, packed one behind the other, in the room of rows that a gateway gets
  /// by no other way; a combine's, whose rows have no gaps.
  RAILSHMEM_HD uint64_t landing(BulkLayout::Kind kind, int32_t m) const { return near_.row(kind, m, 0); }

  /// The words, which begin as 0.
  RAILSHMEM_HD uint64_t words() const { return near_.nbytes(); }
  RAILSHMEM_HD uint64_t words_nbytes() const { return packs() - words(); }
  RAILSHMEM_HD uint64_t nbytes() const { return packs() + (n_ - 1) * most_ * near_.row_stride(); }

 private:
  RAILSHMEM_HD uint64_t fills() const { return words() + 64 * n_; }
  RAILSHMEM_HD uint64_t signals() const { return fills() + 8 * (n_ - 1) * chunks_; }
  RAILSHMEM_HD uint64_t cards() const { return signals() + 16 * n_ * chunks_; }
  RAILSHMEM_HD uint64_t packs() const { return BulkLayout::aligned(cards() + 8 * n_); }

  const BulkLayout near_;
  const uint64_t n_, most_;
  uint64_t chunks_;
};

/// The calls of a team over several nodes. Members on other nodes have no memory here.
struct BulkFar {
  BulkNodes nodes;
  FarLayout places;
};
struct BulkFarDispatchCall {
  BulkDispatchCall near;
  BulkFar far;
};
struct BulkFarCombineCall {
  BulkCombineCall near;
  BulkFar far;
};

}  // namespace railshmem::moe
