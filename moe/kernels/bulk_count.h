// SPDX-License-Identifier: BSD-3-Clause
// Counts and numbers the tokens that go to each member. Each block counts its own tokens and waits for the counts of
// the blocks before it. The block that counts last tells the other members, before anybody gives numbers.
#pragma once

#include "moe/kernels/bulk.h"
#include "moe/kernels/part.h"
#include "moe/kernels/puts.h"

namespace railshmem::moe::kernels {

/// Shared memory of a block.
struct CountShared {
  static constexpr uint32_t kWarps = kCountThreads / threads::kWarp;
  uint32_t bits[kWarps][kMostMembers];    ///< which of a warp's tokens go to a member
  uint32_t before[kWarps][kMostMembers];  ///< tokens for the member before the warp's
  uint32_t mine[kMostMembers];            ///< the block's tokens for a member
  uint32_t ahead[kMostMembers];           ///< tokens for the member before the block's next ones
  uint32_t all[kMostMembers];             ///< all blocks' tokens
  uint32_t named[kMostExperts];
  uint8_t member[kWarps][threads::kWarp * kMostTopk];  ///< that has an expert of a warp's tokens; kNobody: none
  uint32_t told[kMostTold];
};

RAILSHMEM_KERNEL inline void add(uint32_t* in_shared, uint32_t value) {
#if defined(__CUDA_ARCH__)
  atomicAdd(in_shared, value);
#else
  __atomic_fetch_add(in_shared, value, __ATOMIC_RELAXED);
#endif
}

/// kFar: the team is on several nodes, and some members have no memory here.
template <bool kFar>
class BulkCount {
 public:
  RAILSHMEM_KERNEL BulkCount(const CountCall& call, CountShared& shared)
      : call_(call),
        shared_(shared),
        part_(call.members, DeviceCall::moe_bulk_layout, kSend | kReceive, Sharing::none),
        places_(part_.n(), kBulkFixed),
        number_(portable::load_relaxed(part_.mine<uint64_t>(places_.number())) + 1),
        n_(static_cast<uint32_t>(part_.n())),
        local_(call.experts / n_),
        thread_(threads::thread_in_row()),
        threads_(threads::row_size()),
        warp_(thread_ / threads::kWarp),
        lanes_(threads::warp_size()) {
    const uint32_t step = part_.blocks() * threads_, rounds = (call.tokens + step - 1) / step;
    first_ = part_.block() * rounds * threads_;
    end_ = first_ + rounds * threads_;
  }

  RAILSHMEM_KERNEL void run() {
    each(n_, [&](uint32_t m) { shared_.mine[m] = shared_.ahead[m] = shared_.all[m] = 0; });
    each(call_.experts, [&](uint32_t e) { shared_.named[e] = 0; });
    threads::sync_block();
    for_rounds([&](uint32_t first) {
      mark<true>(first);
      each(n_, [&](uint32_t m) { shared_.mine[m] += in_warps(m, warps()); });
    });
    const bool last = is_last();
    if (last) total();
    if (call_.numbers != nullptr || call_.in_member != nullptr) give_numbers();
    if (last && call_.begins != nullptr) receive();
    if (kFar && last && call_.begins != nullptr) end();
  }

 private:
  static constexpr uint8_t kNobody = 255;

  /// Calls with(i) for i below count, dealt out to the block's threads.
  template <class With>
  RAILSHMEM_KERNEL void each(uint32_t count, const With& with) const {
    RAILSHMEM_NO_UNROLL
    for (uint32_t i = thread_; i < count; i += threads_) with(i);
  }
  /// Calls with(first) for each round of the block's tokens, one for each thread. The block meets behind each.
  template <class With>
  RAILSHMEM_KERNEL void for_rounds(const With& with) const {
    RAILSHMEM_NO_UNROLL
    for (uint32_t first = first_; first < end_; first += threads_) {
      with(first);
      threads::sync_block();
    }
  }
  RAILSHMEM_KERNEL uint32_t warps() const { return (threads_ + threads::kWarp - 1) / threads::kWarp; }
  /// The round's tokens for member m of the warps below `warps`.
  RAILSHMEM_KERNEL uint32_t in_warps(uint32_t m, uint32_t warps) const {
    uint32_t sum = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t w = 0; w < warps; ++w) sum += threads::count_lanes(shared_.bits[w][m]);
    return sum;
  }
  /// Tokens that the calling warp has in a round, and the first of them.
  RAILSHMEM_KERNEL uint32_t first_of_warp(uint32_t first) const { return first + warp_ * threads::kWarp; }
  RAILSHMEM_KERNEL uint32_t tokens_of_warp(uint32_t first) const {
    const uint32_t from = first_of_warp(first), left = from < call_.tokens ? call_.tokens - from : 0;
    return left < lanes_ ? left : lanes_;
  }

  /// Learns which tokens of the round go to each member. The block meets behind it.
  template <bool kCountsExperts>
  RAILSHMEM_KERNEL void mark(uint32_t first) {
    const uint64_t goes = call_.chosen != nullptr ? chosen<kCountsExperts>(first) : given(first);
    RAILSHMEM_NO_UNROLL
    for (uint32_t m = 0; m < n_; ++m) {
      const uint32_t bits = threads::lanes_that((goes >> m & 1) != 0);
      if (threads::lane() == 0) shared_.bits[warp_][m] = bits;
    }
    threads::sync_block();
  }
  /// The members of the calling thread's token, as bits. Lanes load experts that lie side by side.
  template <bool kCountsExperts>
  RAILSHMEM_KERNEL uint64_t chosen(uint32_t first) {
    const uint32_t from = first_of_warp(first), tokens = tokens_of_warp(first);
    uint8_t* const member = shared_.member[warp_];
    RAILSHMEM_NO_UNROLL
    for (uint32_t k = threads::lane(); k < tokens * call_.topk; k += lanes_) {
      const int64_t expert = call_.chosen[uint64_t{from} * call_.topk + k];
      const bool there = expert >= 0 && expert < int64_t{call_.experts};
      member[k] = there ? static_cast<uint8_t>(static_cast<uint32_t>(expert) / local_) : kNobody;
      if (!kCountsExperts) continue;
      if (there) add(&shared_.named[expert], 1);
      if (!there && expert != -1)
        part_.fail(ChannelStatus::bad_argument, static_cast<int>(expert),
                   reinterpret_cast<const void*>(uint64_t{from + k / call_.topk}));
    }
    threads::sync_warp();
    uint64_t goes = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t k = 0; k < call_.topk && threads::lane() < tokens; ++k) {
      const uint8_t m = member[threads::lane() * call_.topk + k];
      if (m != kNobody) goes |= uint64_t{1} << m;
    }
    return goes;
  }
  RAILSHMEM_KERNEL uint64_t given(uint32_t first) const {
    uint64_t goes = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t m = 0; m < n_ && threads::lane() < tokens_of_warp(first); ++m)
      if (call_.goes[uint64_t{first_of_warp(first) + threads::lane()} * n_ + m] != 0) goes |= uint64_t{1} << m;
    return goes;
  }

  /// Says what the block has counted. Whether all other blocks had said so before; then they all have read the number.
  RAILSHMEM_KERNEL bool is_last() {
    each(n_, [&](uint32_t m) {
      portable::store_relaxed(part_.mine<uint64_t>(places_.of_block(part_.block(), m)),
                              CountWord::of(number_, shared_.mine[m]));
    });
    each(call_.experts, [&](uint32_t e) {
      if (shared_.named[e] != 0)
        portable::fetch_add_relaxed(part_.mine<uint64_t>(places_.named(e)), uint64_t{shared_.named[e]});
    });
    threads::sync_block();
    bool last = false;
    if (thread_ == 0) {
      portable::release_fence();  // the counts come before the block's arrival
      auto* const counted = part_.mine<uint64_t>(places_.counted());
      last = portable::fetch_add_relaxed(counted, 1) + 1 == part_.blocks();
      if (last) {
        portable::acquire_fence();  // pairs with the others' fences: their counts are there
        portable::store_relaxed(counted, uint64_t{0});
        portable::store_relaxed(part_.mine<uint64_t>(places_.number()), number_);
      }
    }
    return threads::from_first_of_block(last ? 1 : 0, 1) != 0;
  }

  /// The last block: adds up what all blocks counted, and tells the members.
  RAILSHMEM_KERNEL void total() {
    each(part_.blocks() * n_, [&](uint32_t i) {
      const uint64_t word = portable::load_relaxed(part_.mine<uint64_t>(places_.of_block(i / n_, i % n_)));
      add(&shared_.all[i % n_], CountWord::count(word));
    });
    each(call_.experts, [&](uint32_t e) {
      auto* const named = part_.mine<uint64_t>(places_.named(e));
      shared_.named[e] = static_cast<uint32_t>(portable::load_relaxed(named));
      portable::store_relaxed(named, uint64_t{0});
      if (call_.goes_named != nullptr) shared_.named[e] = static_cast<uint32_t>(call_.goes_named[e]);
      if (call_.to_experts != nullptr) call_.to_experts[e] = static_cast<int32_t>(shared_.named[e]);
    });
    threads::sync_block();
    if (call_.to_members != nullptr)
      each(n_, [&](uint32_t m) { call_.to_members[m] = static_cast<int32_t>(shared_.all[m]); });
    if (call_.begins != nullptr) send();
  }
  /// Words that one member tells another one.
  RAILSHMEM_KERNEL uint32_t told() const { return n_ + 1 + local_; }
  RAILSHMEM_KERNEL uint64_t next_exchange() const {
    return portable::load_relaxed(part_.mine<uint64_t>(places_.exchange())) + 1;
  }
  RAILSHMEM_KERNEL void send() const {
    const uint64_t exchange = next_exchange();
    const auto me = static_cast<uint32_t>(part_.me());
    each(n_ * told(), [&](uint32_t i) {
      const int32_t to = part_.after(static_cast<int32_t>(i / told()));
      const uint32_t w = i % told();
      const uint32_t count = w < n_    ? shared_.all[w]
                             : w == n_ ? call_.tokens
                                       : shared_.named[static_cast<uint32_t>(to) * local_ + (w - n_ - 1)];
      uint64_t* const word =
          is_near(to) ? part_.theirs<uint64_t>(to, places_.told(exchange, me * told() + w)) : packed(to, w);
      portable::store_relaxed(word, CountWord::of(exchange, count));
    });
    if (kFar) put(exchange);
  }
  RAILSHMEM_KERNEL bool is_near(int32_t m) const { return !kFar || call_.members.memory[m] != nullptr; }
  RAILSHMEM_KERNEL uint64_t* packed(int32_t to, uint32_t w) const {
    return part_.mine<uint64_t>(places_.packed(static_cast<uint32_t>(to) * told() + w));
  }
  /// To each member on another node one put, whose signal is the last word.
  RAILSHMEM_KERNEL void put(uint64_t exchange) const {
    threads::sync_block();
    const uint32_t first = static_cast<uint32_t>(part_.me()) * told(), signal = told() - 1;
    each(n_, [&](uint32_t steps) {
      const int32_t to = part_.after(static_cast<int32_t>(steps));
      if (is_near(to)) return;
      put_chunk(DeviceCall::moe_bulk_layout, call_.members.pe[to], part_.mine<uint64_t>(places_.told(exchange, first)),
                packed(to, 0), 8 * uint64_t{signal}, part_.mine<uint64_t>(places_.told(exchange, first + signal)),
                portable::load_relaxed(packed(to, signal)));
    });
  }
  /// The next call packs its words when these have left.
  RAILSHMEM_KERNEL void end() const {
    threads::sync_block();
    if (thread_ == 0) await_puts(DeviceCall::moe_bulk_layout);
  }

  /// A token's number: tokens of the blocks before, of the warps before, and of the lanes before.
  RAILSHMEM_KERNEL void give_numbers() {
    each(part_.block() * n_, [&](uint32_t i) {
      const uint64_t word =
          part_.await(part_.mine<uint64_t>(places_.of_block(i / n_, i % n_)), CountWord::of(number_, 0), part_.me());
      add(&shared_.ahead[i % n_], CountWord::count(word));
    });
    threads::sync_block();
    for_rounds([&](uint32_t first) {
      mark<false>(first);
      RAILSHMEM_NO_UNROLL
      for (uint32_t m = threads::lane(); m < n_; m += lanes_)
        shared_.before[warp_][m] = shared_.ahead[m] + in_warps(m, warp_);
      threads::sync_block();
      each(n_, [&](uint32_t m) { shared_.ahead[m] += in_warps(m, warps()); });
      write(first);
    });
  }
  /// Lanes store numbers that lie side by side.
  RAILSHMEM_KERNEL void write(uint32_t first) const {
    const uint64_t from = uint64_t{first_of_warp(first)} * n_;
    RAILSHMEM_NO_UNROLL
    for (uint32_t k = threads::lane(); k < tokens_of_warp(first) * n_; k += lanes_) {
      const uint32_t m = k % n_, bits = shared_.bits[warp_][m], bit = 1u << k / n_;
      const bool goes = (bits & bit) != 0;
      const uint32_t number = shared_.before[warp_][m] + threads::count_lanes(bits & (bit - 1));
      if (call_.numbers != nullptr) call_.numbers[from + k] = goes ? static_cast<int32_t>(number) : -1;
      if (call_.in_member != nullptr) call_.in_member[from + k] = goes ? 1 : 0;
    }
  }

  /// What the members tell, added up over those below `members`.
  RAILSHMEM_KERNEL uint32_t sum_told(uint32_t w, uint32_t members) const {
    uint32_t sum = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t s = 0; s < members; ++s) sum += shared_.told[s * told() + w];
    return sum;
  }
  RAILSHMEM_KERNEL void receive() {
    const uint64_t exchange = next_exchange();
    each(n_ * told(), [&](uint32_t i) {
      const auto s = static_cast<int32_t>(i / told());
      auto* const at = part_.mine<uint64_t>(places_.told(exchange, i));
      const auto* const signal = is_near(s) ? at : at + (told() - 1 - i % told());
      const uint64_t word = part_.await(signal, CountWord::of(exchange, 0), s);
      shared_.told[i] = CountWord::count(signal == at ? word : portable::load_relaxed(at));
    });
    threads::sync_block();
    if (thread_ == 0) portable::store_relaxed(part_.mine<uint64_t>(places_.exchange()), exchange);
    const auto me = static_cast<uint32_t>(part_.me());
    each(n_ + 1, [&](uint32_t s) { call_.begins[s] = static_cast<int32_t>(sum_told(me, s)); });
    if (call_.prefixes != nullptr)
      each(n_ * n_, [&](uint32_t i) { call_.prefixes[i] = static_cast<int32_t>(sum_told(i % n_, i / n_ + 1)); });
    each(local_, [&](uint32_t e) {
      const uint32_t sum = sum_told(n_ + 1 + e, n_);
      if (call_.received != nullptr) call_.received[e] = static_cast<int32_t>(sum);
      if (call_.on_host != nullptr) portable::store_relaxed(call_.on_host + 3 + e, uint64_t{sum});
    });
    if (call_.on_host != nullptr) tell_host(me);
  }
  RAILSHMEM_KERNEL void tell_host(uint32_t me) const {
    threads::sync_block();
    if (thread_ != 0) return;
    uint32_t most = 0;
    RAILSHMEM_NO_UNROLL
    for (uint32_t s = 0; s < n_; ++s)
      if (shared_.told[s * told() + n_] > most) most = shared_.told[s * told() + n_];
    portable::store_relaxed(call_.on_host + 1, uint64_t{sum_told(me, n_)});
    portable::store_relaxed(call_.on_host + 2, uint64_t{most});
    portable::release_fence();  // a CPU that sees the ticket sees the counts
    portable::store_fenced(call_.on_host, call_.ticket);
  }

  const CountCall& call_;
  CountShared& shared_;
  Part part_;
  const CountPlaces places_;
  const uint64_t number_;
  const uint32_t n_, local_, thread_, threads_, warp_, lanes_;
  uint32_t first_, end_;
};

}  // namespace railshmem::moe::kernels
