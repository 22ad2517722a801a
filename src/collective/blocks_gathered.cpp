// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/blocks.h"

#include <algorithm>

#include "src/collective/flags.h"
#include "src/rma/copy_batch.h"

namespace railshmem {
namespace {

/// One alltoall, which is one full exchange: a member hears from its node's members directly, and of another node's
/// members by a message that was sent when all of them had copied their blocks. Lines have one writer: a carrier raises
/// the line of the carrier that sent to it at its node's members, as blocks_by_rails() does.
class Gathered {
 public:
  explicit Gathered(const Blocks& blocks) noexcept
      : blocks_(blocks), team_(blocks.team), nodes_(team_.nodes), count_(static_cast<int>(nodes_.leaders.size())) {}

  /// Whether the area has room for blocks of this size on every member, and nodes have members to gather from.
  bool is_possible() const noexcept {
    int largest = 1, smallest = team_.size();
    for (int node = 0; node < count_; ++node) {
      largest = std::max(largest, nodes_.size_of(node));
      smallest = std::min(smallest, nodes_.size_of(node));
    }
    const auto most = static_cast<size_t>(largest);
    const auto messages = static_cast<size_t>((count_ - 1 + smallest - 1) / smallest);  // of one carrier
    const size_t room = std::min(TeamAreaLayout::kSlotBytes, TeamAreaLayout::kIncomingBytes);
    return largest > 1 && blocks_.nbytes <= room / (most + messages * most * most);
  }

  void run() noexcept {
    number_ = begin_exchange(team_);
    leave_blocks();
    const size_t sent = send();
    receive();
    take_blocks();
    finish_sends(team_, sent);
  }

 private:
  /// The place of `other` among the nodes but `node`, in a circle behind `node`.
  int distance(int node, int other) const noexcept { return (other - node + count_) % count_ - 1; }
  /// The index on `node` of the member that deals with `other`.
  int carrier(int node, int other) const noexcept { return distance(node, other) % nodes_.size_of(node); }
  int carrier_rank(int node, int other) const noexcept { return nodes_.partner(node, carrier(node, other)); }
  bool carries(int other) const noexcept { return carrier(nodes_.my_node, other) == nodes_.my_index; }
  size_t bytes_between(int node, int other) const noexcept {
    return static_cast<size_t>(nodes_.size_of(node)) * static_cast<size_t>(nodes_.size_of(other)) * blocks_.nbytes;
  }
  /// Where the carrier on `node` has its message with `other`: in its slot behind its own blocks, or in the received
  /// data.
  size_t message_at(int node, int other) const noexcept {
    size_t at = 0;
    const int size = nodes_.size_of(node);
    for (int d = distance(node, other) - size; d >= 0; d -= size) at += bytes_between(node, (node + 1 + d) % count_);
    return at;
  }
  size_t outgoing(int node, int other) const noexcept {
    return team_.area.slot(number_) + static_cast<size_t>(nodes_.size_of(node)) * blocks_.nbytes +
           message_at(node, other);
  }
  size_t incoming(int node, int other) const noexcept {
    return team_.area.incoming(number_, 0, 0) + message_at(node, other);
  }
  /// A block in the message from node `from` to node `to`: receiver by receiver.
  size_t block_at(int from, int sender, int receiver) const noexcept {
    return (static_cast<size_t>(receiver) * static_cast<size_t>(nodes_.size_of(from)) + static_cast<size_t>(sender)) *
           blocks_.nbytes;
  }
  int other_node(int i) const noexcept { return (nodes_.my_node + i) % count_; }

  /// Copies this PE's blocks to the slots of its node's members: each gets its own, and what it carries.
  void leave_blocks() noexcept {
    CopyBatch copies(team_.state.device);
    const int here = nodes_.my_node, me = nodes_.my_index;
    for (int i = 1; i < count_; ++i) {
      const int to = other_node(i);
      std::byte* const message = team_.here(carrier(here, to), outgoing(here, to));
      for (int r = 0; r < nodes_.size_of(to); ++r)
        copies.add(message + block_at(here, me, r), blocks_.block_for(nodes_.partner(to, r)), blocks_.nbytes);
    }
    for (int i = 1; i < nodes_.size_here(); ++i) {
      const int index = (me + i) % nodes_.size_here();
      copies.add(team_.here(index, team_.area.slot(number_)) + static_cast<size_t>(me) * blocks_.nbytes,
                 blocks_.block_for(nodes_.partner(here, index)), blocks_.nbytes);
    }
    copies.add_own(blocks_.place_of(team_.rank), blocks_.block_for(team_.rank), blocks_.nbytes);
    copies.finish();
    raise_on_node(team_.rank);
  }
  void raise_on_node(int rank) noexcept {
    for (int i = 1; i < nodes_.size_here(); ++i)
      raise_here(team_, (nodes_.my_index + i) % nodes_.size_here(), team_.area.exchange(number_, rank), number_);
  }
  void await_line(int rank) noexcept {
    await(team_, blocks_.function, rank, team_.area.exchange(number_, rank), number_);
  }

  /// Returns the bytes of the longest message.
  size_t send() noexcept {
    size_t longest = 0;
    const int here = nodes_.my_node;
    for (int i = 1; i < count_; ++i) {
      const int to = other_node(i);
      if (!carries(to)) continue;
      for (const int member : nodes_.members)
        if (member != team_.rank) await_line(member);
      const size_t nbytes = bytes_between(here, to);
      deliver(team_, blocks_.function, carrier_rank(to, here), team_.mine(incoming(to, here)),
              team_.mine(outgoing(here, to)), nbytes, team_.area.exchange(number_, team_.rank), number_);
      longest = std::max(longest, nbytes);
    }
    return longest;
  }

  void receive() noexcept {
    for (int i = 1; i < count_; ++i) {
      const int from = other_node(count_ - i);
      if (!carries(from)) continue;
      const int sender = carrier_rank(from, nodes_.my_node);
      await_line(sender);
      raise_on_node(sender);
    }
  }

  void take_blocks() noexcept {
    CopyBatch copies(team_.state.device);
    const int here = nodes_.my_node, me = nodes_.my_index;
    for (int index = 0; index < nodes_.size_here(); ++index) {
      if (index == me) continue;
      const int member = nodes_.partner(here, index);
      await_line(member);
      copies.add(blocks_.place_of(member),
                 team_.mine(team_.area.slot(number_)) + static_cast<size_t>(index) * blocks_.nbytes, blocks_.nbytes);
    }
    for (int i = 1; i < count_; ++i) {
      const int from = other_node(count_ - i);
      await_line(carrier_rank(from, here));
      const std::byte* const message = team_.here(carrier(here, from), incoming(here, from));
      for (int s = 0; s < nodes_.size_of(from); ++s)
        copies.add(blocks_.place_of(nodes_.partner(from, s)), message + block_at(from, s, me), blocks_.nbytes);
    }
    copies.finish();
  }

  const Blocks& blocks_;
  Team& team_;
  const TeamNodes& nodes_;
  const int count_;  ///< nodes
  uint64_t number_ = 0;
};

}  // namespace

bool blocks_by_gathering(const Blocks& blocks) noexcept {
  Gathered gathered(blocks);
  if (!gathered.is_possible()) return false;
  gathered.run();
  return true;
}

}  // namespace railshmem
