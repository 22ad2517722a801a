// SPDX-License-Identifier: BSD-3-Clause
#include "soak_counters.h"

namespace rails {

Counters::Counters(uint64_t seed, Mistakes& mistakes)
    : seed_(seed), mistakes_(mistakes), me_(shmem_my_pe()), npes_(shmem_n_pes()) {
  const auto n = static_cast<size_t>(npes_);
  words_ = symmetric<Words>(1);
  pair_ = symmetric<PairWords>(n);
  pit_ = symmetric<char>(n * kInline);
  table_ = symmetric<Done>(n);
  done_.resize(n);
  last_ticket_.resize(n);
}

void Counters::expect(const char* what, int pe, uint64_t actual, uint64_t expected) {
  if (actual != expected)
    mistakes_.add("%s (PE %d) is %llu, expected %llu", what, pe, static_cast<unsigned long long>(actual),
                  static_cast<unsigned long long>(expected));
}

void Counters::step(Random& random, int pe) {
  ++steps_;
  Done& done = done_[static_cast<size_t>(pe)];
  const uint64_t value = random.next();
  switch (random.below(6)) {
    case 0:
      shmem_uint64_atomic_add(&words_->added, value, pe);
      done.added += value;
      return;
    case 1:
      shmem_uint64_atomic_inc(&words_->incremented, pe);
      ++done.incremented;
      return;
    case 2:
      shmem_uint64_atomic_xor(&words_->flipped, value, pe);
      done.flipped ^= value;
      return;
    case 3: {
      char payload[kInline];
      fill(payload, kInline, stamp_of(seed_, static_cast<uint64_t>(me_), static_cast<uint64_t>(pe)));
      shmem_putmem_signal(pit_ + static_cast<size_t>(me_) * kInline, payload, kInline, &pair_[me_].signalled,
                          1 + value % 3, SHMEM_SIGNAL_ADD, pe);
      done.signalled += 1 + value % 3;
      return;
    }
    default:
      fetching(random, pe);
  }
}

void Counters::fetching(Random& random, int pe) {
  Done& done = done_[static_cast<size_t>(pe)];
  PairWords& pair = pair_[me_];
  const uint64_t value = random.next();
  switch (random.below(5)) {
    case 0:
      expect("fetch_add", pe, shmem_uint64_atomic_fetch_add(&pair.fetched, value, pe), done.fetched);
      done.fetched += value;
      return;
    case 1: {
      uint64_t fetched = ~done.fetched;
      shmem_uint64_atomic_fetch_xor_nbi(&fetched, &pair.fetched, value, pe);
      shmem_quiet();
      expect("fetch_xor_nbi", pe, fetched, done.fetched);
      done.fetched ^= value;
      return;
    }
    case 2:  // done twice, it would find the new value
      expect("compare_swap", pe, shmem_uint64_atomic_compare_swap(&pair.cell, done.cell, value, pe), done.cell);
      done.cell = value;
      return;
    case 3:
      expect("swap", pe, shmem_uint64_atomic_swap(&pair.cell, value, pe), done.cell);
      done.cell = value;
      return;
    default: {
      const uint64_t ticket = shmem_uint64_atomic_fetch_inc(&words_->tickets, pe) + 1;
      uint64_t& last = last_ticket_[static_cast<size_t>(pe)];
      if (ticket <= last)
        mistakes_.add("PE %d gave ticket %llu after %llu", pe, static_cast<unsigned long long>(ticket),
                      static_cast<unsigned long long>(last));
      last = ticket;
      ++done.tickets;
    }
  }
}

void Counters::tell() {
  for (int pe = 0; pe < npes_; ++pe) shmem_putmem(&table_[me_], &done_[static_cast<size_t>(pe)], sizeof(Done), pe);
}

void Counters::check() {
  Done sum;
  for (int pe = 0; pe < npes_; ++pe) {
    const Done& said = table_[pe];
    sum.added += said.added;
    sum.incremented += said.incremented;
    sum.flipped ^= said.flipped;
    sum.tickets += said.tickets;
    expect("word of fetching updates", pe, pair_[pe].fetched, said.fetched);
    expect("word of swaps", pe, pair_[pe].cell, said.cell);
    expect("sum of added signals", pe, pair_[pe].signalled, said.signalled);
    const uint64_t stamp = stamp_of(seed_, static_cast<uint64_t>(pe), static_cast<uint64_t>(me_));
    if (said.signalled && broken_at(pit_ + static_cast<size_t>(pe) * kInline, kInline, stamp) != kInline)
      mistakes_.add("data of an added signal of PE %d is wrong", pe);
  }
  expect("sum of adds", me_, words_->added, sum.added);
  expect("count of increments", me_, words_->incremented, sum.incremented);
  expect("word of xors", me_, words_->flipped, sum.flipped);
  expect("count of tickets", me_, words_->tickets, sum.tickets);
}

}  // namespace rails
