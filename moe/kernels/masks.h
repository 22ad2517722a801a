// SPDX-License-Identifier: BSD-3-Clause
// Members that calls go on without. A masked member gets nothing, and nobody waits for it. The program masks a member
// in stream order, or a wait does that gets too long.
//
// kNodes: members may be on other nodes. Those have no memory here, and are told and asked over the network.
#pragma once

#include "moe/kernels/places.h"
#include "moe/kernels/puts.h"
#include "shmem/device/calls/define.h"
#include "shmem/device/sync.h"

namespace railshmem::moe::kernels {

RAILSHMEM_KERNEL inline bool has(uint64_t members, int32_t member) {
  return (members >> member & 1) != 0;
}

/// Sets and clears bits of a word of this PE's GPU memory.
RAILSHMEM_KERNEL inline void change_bits(uint64_t* word, uint64_t set, uint64_t cleared) {
  uint64_t old = portable::load_relaxed(word);
  for (;;) {
    const uint64_t found = portable::compare_swap_relaxed(word, old, (old | set) & ~cleared);
    if (found == old) return;
    old = found;
  }
}

/// Stores a number at an offset of a member's memory. A network without order brings an old number behind a new one, so
/// whoever tells numbers of one place waits for its puts between them, or its reader looks for changes only.
template <bool kNodes>
RAILSHMEM_KERNEL inline void tell_number(const Members& members, DeviceCall call, int32_t to, int64_t offset,
                                         uint64_t number) {
  if constexpr (kNodes) {
    if (members.memory[to] == nullptr) {
      auto* const word = reinterpret_cast<uint64_t*>(members.memory[members.me] + offset);
      put_chunk(call, members.pe[to], word, word, 0, word, number);
      return;
    }
  }
  portable::store_relaxed(reinterpret_cast<uint64_t*>(members.memory[to] + offset), number);
}

/// Whether a source takes part in a dispatch, as the first block says that knows. A word has the number of the dispatch
/// and a bit; it only grows.
struct Verdict {
  /// Says `out`, and returns what counts.
  RAILSHMEM_KERNEL static bool is_out(uint64_t* word, uint64_t epoch, bool out) {
    const uint64_t mine = epoch << 1 | (out ? 1u : 0u);
    uint64_t old = (epoch - 1) << 1;  // what is there where the source took part before
    for (;;) {
      const uint64_t found = portable::compare_swap_relaxed(word, old, mine);
      if (found == old) return out;
      if (found >> 1 == epoch) return (found & 1) != 0;
      old = found;
    }
  }
};

constexpr uint64_t kSignsPerWait = 8;

/// Says that this member waits. One thread of the GPU tells the members, now and then.
template <bool kNodes>
RAILSHMEM_KERNEL inline void tell_waiting(const Members& members, DeviceCall call, uint64_t now) {
  const auto at = [&](uint64_t offset) { return members.signs + static_cast<int64_t>(offset); };
  auto* const told = reinterpret_cast<uint64_t*>(members.memory[members.me] + at(Layout::kTold));
  const uint64_t before = portable::load_relaxed(told);
  if (now < before + members.mask_ns / kSignsPerWait) return;
  if (portable::compare_swap_relaxed(told, before, now) != before) return;
  const uint64_t masked = portable::load_relaxed(members.mask);
  RAILSHMEM_NO_UNROLL
  for (int32_t m = 0; m < members.shape.n; ++m)
    if (m != members.me && !has(masked, m)) tell_number<kNodes>(members, call, m, at(Layout::waits(members.me)), now);
}

/// One thread's wait for a member, as long as it may last. A member that waits itself says so from time to time, and is
/// not masked by those that wait for it: only who is behind all waits is.
template <bool kNodes>
class Patience {
 public:
  RAILSHMEM_KERNEL Patience(const Members& members, DeviceCall call, int32_t from)
      : members_(members), call_(call), from_(from) {}

  /// Masks the member once it has been silent for too long. Looks at the clock.
  RAILSHMEM_KERNEL void look() {
    const uint64_t now = portable::clock_ns();
    tell_waiting<kNodes>(members_, call_, now);
    const uint64_t sign = portable::load_relaxed(reinterpret_cast<const uint64_t*>(
        members_.memory[members_.me] + members_.signs + static_cast<int64_t>(Layout::waits(from_))));
    if (since_ns_ == 0 || sign != sign_) {
      since_ns_ = now;
      sign_ = sign;
    } else if (now - since_ns_ >= members_.mask_ns && from_ != members_.me) {
      change_bits(members_.mask, uint64_t{1} << from_, 0);
    }
  }

 private:
  const Members& members_;
  const DeviceCall call_;
  const int32_t from_;
  uint64_t since_ns_ = 0, sign_ = 0;  // 0: the clock was not looked at yet
};

/// Waits for what the calling block has put, as await_puts() does, and says so: puts to a member that has died end only
/// when its death is known. One thread.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void await_puts_patiently(const Members& members, DeviceCall call) {
  if (members.mask_ns == 0) return await_puts(call);
  const WorldView& world = device::this_world();
  const ChannelView& channel = device::my_channel(world);
  const uint64_t count = portable::load_relaxed(channel.ring.head);
  uint64_t since_ns = portable::clock_ns(), seen = 0;
  for (;;) {
    const ChannelStatus status =
        device::wait_completed(channel, count, device::Deadline{members.mask_ns / kSignsPerWait});
    if (status == ChannelStatus::timeout) {
      const uint64_t now = portable::clock_ns(), completed = portable::load_relaxed(channel.completed);
      if (completed != seen) since_ns = now;
      seen = completed;
      tell_waiting<true>(members, call, now);
      if (world.timeout_ns == 0 || now - since_ns < world.timeout_ns) continue;
    }
    return device::finish(world, call, status, -1, nullptr);
  }
}

enum class Awaited : uint32_t { number, numbered };

/// Waits for a word of a member that is not there yet: a number that only grows, or one of Numbered.
/// Returns another word where the member is masked, or after a failure, which ends the job.
template <bool kNodes>
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline uint64_t await_or_mask(const Members& members, DeviceCall call,
                                                                     Awaited what, const uint64_t* word,
                                                                     uint64_t number, int32_t from) {
  const WorldView& world = device::this_world();
  device::Waiter waiter(device::error_of(world), device::Deadline{world.timeout_ns});
  Patience<kNodes> patience(members, call, from);
  for (;;) {
    // acquire: as in Part::await().
    const uint64_t found = portable::load_acquire(word);
    if (what == Awaited::number ? found >= number : Numbered::is_of(number, found)) return found;
    if (has(portable::load_relaxed(members.mask), from)) return found;
    if (members.mask_ns != 0 && waiter.is_due()) patience.look();
    const ChannelStatus status = waiter.turn();
    if (status == ChannelStatus::ok) continue;
    device::finish(world, call, status, members.pe[from], word);
    return found;
  }
}

/// The first words of a member that comes back: as they are, or as they have been fetched.
template <bool kNodes>
RAILSHMEM_KERNEL inline const unsigned char* words_of(const Members& members, int32_t m) {
  if constexpr (kNodes) {
    if (members.memory[m] == nullptr) {
      unsigned char* const mine = members.memory[members.me];
      const WorldView& world = device::this_world();
      const ChannelStatus status =
          device::getmem<device::ThreadScope>(world, mine + Layout::kTheirs, mine, Layout::kTheirsNbytes,
                                              device::Peer(members.pe[m]), device::Completion::now);
      device::finish(world, DeviceCall::moe_dispatch, status, members.pe[m], mine);
      return mine + Layout::kTheirs;
    }
  }
  return members.memory[m];
}

/// Takes the largest numbers that this member or one of those that come back has.
template <bool kNodes>
RAILSHMEM_KERNEL inline void take_largest(const Members& members, uint64_t back) {
  constexpr uint64_t kNumbers[] = {Layout::kEpoch, Layout::kMeetings};
  unsigned char* const mine = members.memory[members.me];
  RAILSHMEM_NO_UNROLL
  for (int32_t m = 0; m < members.shape.n; ++m) {
    if (!has(back, m)) continue;
    const unsigned char* const theirs = words_of<kNodes>(members, m);
    RAILSHMEM_UNROLL
    for (const uint64_t offset : kNumbers) {
      const uint64_t number = portable::load_relaxed(reinterpret_cast<const uint64_t*>(theirs + offset));
      auto* const own = reinterpret_cast<uint64_t*>(mine + offset);
      if (number > portable::load_relaxed(own)) portable::store_relaxed(own, number);
    }
  }
}

/// The members that are not masked wait for each other. A thread for each member. Messages say that it is a dispatch.
template <bool kNodes>
RAILSHMEM_KERNEL inline void meet(const Members& members) {
  const auto m = static_cast<int32_t>(threads::thread_in_row()), threads = static_cast<int32_t>(threads::row_size());
  auto* const mine = members.memory[members.me];
  auto* const meetings = reinterpret_cast<uint64_t*>(mine + Layout::kMeetings);
  const uint64_t number = portable::load_relaxed(meetings) + 1, masked = portable::load_relaxed(members.mask);
  RAILSHMEM_NO_UNROLL
  for (int32_t to = m; to < members.shape.n; to += threads)
    if (!has(masked, to))
      tell_number<kNodes>(members, DeviceCall::moe_dispatch, to, static_cast<int64_t>(Layout::met(members.me)), number);
  RAILSHMEM_NO_UNROLL
  for (int32_t from = m; from < members.shape.n; from += threads)
    if (!has(masked, from))
      await_or_mask<kNodes>(members, DeviceCall::moe_dispatch, Awaited::number,
                            reinterpret_cast<const uint64_t*>(mine + Layout::met(from)), number, from);
  threads::sync_block();
  if (m != 0) return;
  if constexpr (kNodes) await_puts_patiently(members, DeviceCall::moe_dispatch);
  portable::store_relaxed(meetings, number);
}

/// Gives all places of packets the number of the last dispatch. A member that was away has not renewed them meanwhile.
RAILSHMEM_KERNEL inline void renew_all(const Members& members) {
  const Layout layout(members.shape);
  unsigned char* const mine = members.memory[members.me];
  const uint64_t epoch = portable::load_relaxed(reinterpret_cast<const uint64_t*>(mine + Layout::kEpoch));
  const auto at = [mine](uint64_t offset) { return reinterpret_cast<uint64_t*>(mine + offset); };
  const uint64_t of_sums = members.shape.late_weights != 0 ? epoch << 1 | 1 : epoch;
  Places{at(layout.numbered()), layout.numbered_nbytes(), of_sums}.fill();
  Places{at(layout.packets(0, 0, 0)), 2 * layout.set_nbytes(), epoch}.fill();
}

/// By one block. A member that comes back has made fewer calls; who takes it back goes on with the larger numbers, and
/// so does the member itself, so that words from before look old to all.
template <bool kNodes>
RAILSHMEM_KERNEL inline void run_mask(const MaskCall& call) {
  const Members& members = call.members;
  if (call.meets != 0) return meet<kNodes>(members);
  if (call.cleared != 0) {
    if (threads::thread_in_row() == 0) take_largest<kNodes>(members, call.cleared);
    threads::sync_block();
    renew_all(members);
  }
  if (threads::thread_in_row() != 0) return;
  if ((call.set | call.cleared) != 0) change_bits(members.mask, call.set, call.cleared);
  if (call.masked == nullptr) return;
  const uint64_t masked = portable::load_relaxed(members.mask);
  RAILSHMEM_NO_UNROLL
  for (int32_t m = 0; m < members.shape.n; ++m) call.masked[m] = has(masked, m) ? 1 : 0;
}

}  // namespace railshmem::moe::kernels
