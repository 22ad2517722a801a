// SPDX-License-Identifier: BSD-3-Clause
#include "soak_messages.h"

namespace rails {
namespace {

constexpr uint64_t kSourceFree = ~uint64_t{0};

unsigned long long number(uint64_t value) {
  return value;
}

}  // namespace

Messages::Messages(uint64_t seed, Mistakes& mistakes)
    : seed_(seed), mistakes_(mistakes), me_(shmem_my_pe()), npes_(shmem_n_pes()) {
  const size_t slots = slot(npes_, 0);
  data_ = symmetric<char>(slots * kSlotBytes);
  signals_ = symmetric<uint64_t>(slots);
  acks_ = symmetric<uint64_t>(slots);
  told_ = symmetric<uint64_t>(slots);
  auto* sources = symmetric<char>(slots / 2 * kSlotBytes);
  in_.resize(slots);
  out_.resize(slots);
  // Every second source is outside the symmetric heap.
  for (size_t i = 0; i < slots; ++i) {
    if (i % 2 == 0) {
      out_[i].source = sources + i / 2 * kSlotBytes;
    } else {
      private_sources_.emplace_back(kSlotBytes);
      out_[i].source = private_sources_.back().data();
    }
    out_[i].completed = kSourceFree;
  }
}

uint64_t Messages::stamp(int from, int to, size_t s, uint64_t count) const {
  return stamp_of(seed_, static_cast<uint64_t>(from), static_cast<uint64_t>(to), count * kSlots + s);
}

/// Half of them a few bytes, the others up to almost 1 MiB, each size class as often as the next.
size_t Messages::bytes_of(uint64_t stamp) {
  const uint64_t choice = mix(stamp);
  const size_t low = choice % 2 == 0 ? 1 : size_t{4096} << (choice / 2 % 8);
  const size_t high = choice % 2 == 0 ? 256 : 2 * low;
  return std::min<size_t>(low + choice / 16 % (high - low), kSlotBytes - 64);
}

void Messages::send(Random& random, int pe) {
  const size_t s = random.below(kSlots), i = slot(pe, s);
  Outgoing& out = out_[i];
  const uint64_t ack = shmem_uint64_atomic_fetch(&acks_[i], me_);
  if (ack + 1 == out.count) return;  // still with the receiver
  if (ack != out.count) {
    mistakes_.add("slot %zu of PE %d is acknowledged up to %llu after %llu messages", s, pe, number(ack),
                  number(out.count));
    return;
  }
  // The source of a non-blocking put belongs to the library until a quiet.
  if (out.completed == quiets_) {
    shmem_quiet();
    ++quiets_;
  }
  const uint64_t mark = stamp(me_, pe, s, ++out.count);
  fill(out.source, bytes_of(mark), mark);
  post(random, pe, s, mark);
  ++sent_;
}

void Messages::post(Random& random, int pe, size_t s, uint64_t mark) {
  const size_t i = slot(pe, s), at = slot(me_, s), bytes = bytes_of(mark);
  Outgoing& out = out_[i];
  char* const dest = data_ + at * kSlotBytes + offset_of(mark);
  uint64_t* const signal = &signals_[at];
  const size_t part = random.below(bytes + 1);
  bool blocking = false;
  switch (random.below(7)) {
    case 0:
      shmem_putmem_signal(dest, out.source, bytes, signal, out.count, SHMEM_SIGNAL_SET, pe);
      blocking = true;
      break;
    case 1:
      shmem_putmem_signal(dest, out.source, bytes, signal, 1, SHMEM_SIGNAL_ADD, pe);
      blocking = true;
      break;
    case 2:
      shmem_putmem_signal_nbi(dest, out.source, bytes, signal, out.count, SHMEM_SIGNAL_SET, pe);
      break;
    case 3:
      shmem_putmem_signal_nbi(dest, out.source, bytes, signal, 1, SHMEM_SIGNAL_ADD, pe);
      break;
    case 4:
      shmem_putmem(dest, out.source, bytes, pe);
      shmem_fence();
      shmem_uint64_atomic_inc(signal, pe);
      blocking = true;
      break;
    case 5:
      shmem_putmem_nbi(dest, out.source, part, pe);
      shmem_fence();
      shmem_putmem_signal_nbi(dest + part, out.source + part, bytes - part, signal, out.count, SHMEM_SIGNAL_SET, pe);
      break;
    default:
      shmem_putmem_nbi(dest, out.source, bytes, pe);
      shmem_fence();
      shmem_signal_set(signal, out.count, pe);
  }
  out.completed = blocking ? kSourceFree : quiets_;
  // If this message is sent once more, the sender must have kept a copy.
  if (blocking) memset(out.source, 0xdd, bytes);
}

void Messages::receive(Random& random) {
  for (int from = 0; from < npes_; ++from)
    for (size_t s = 0; s < kSlots; ++s) {
      Incoming& in = in_[slot(from, s)];
      const uint64_t signal = shmem_signal_fetch(&signals_[slot(from, s)]);
      if (in.held) {
        if (signal != in.count)
          mistakes_.add("slot %zu of PE %d: signal %llu before message %llu was acknowledged", s, from, number(signal),
                        number(in.count));
        // A write that lands late shows here.
        if (random.one_in(3)) {
          compare(from, s, "again");
          acknowledge(random, from, s);
        }
        continue;
      }
      if (signal == in.count) continue;
      if (signal != in.count + 1)
        mistakes_.add("slot %zu of PE %d: signal %llu after %llu", s, from, number(signal), number(in.count));
      ++in.count;
      ++received_;
      compare(from, s, "at its signal");
      if (random.one_in(4))
        in.held = true;
      else
        acknowledge(random, from, s);
    }
}

void Messages::settle(Random& random) {
  receive(random);
  for (int pe = 0; pe < npes_; ++pe)
    for (size_t s = 0; s < kSlots; ++s) {
      if (in_[slot(pe, s)].held) {
        compare(pe, s, "at last");
        acknowledge(random, pe, s);
      }
      shmem_uint64_p(&told_[slot(me_, s)], out_[slot(pe, s)].count, pe);
    }
}

void Messages::check() {
  for (int pe = 0; pe < npes_; ++pe)
    for (size_t s = 0; s < kSlots; ++s) {
      const size_t i = slot(pe, s);
      if (in_[i].count != told_[i])
        mistakes_.add("slot %zu of PE %d: %llu signals seen, %llu messages sent", s, pe, number(in_[i].count),
                      number(told_[i]));
      const uint64_t ack = shmem_uint64_atomic_fetch(&acks_[i], me_);
      if (ack != out_[i].count)
        mistakes_.add("slot %zu to PE %d: %llu messages sent, %llu acknowledged", s, pe, number(out_[i].count),
                      number(ack));
    }
}

void Messages::compare(int from, size_t s, const char* when) {
  const uint64_t count = in_[slot(from, s)].count, mark = stamp(from, me_, s, count);
  const size_t bytes = bytes_of(mark);
  const size_t at = broken_at(data_ + slot(from, s) * kSlotBytes + offset_of(mark), bytes, mark);
  if (at != bytes)
    mistakes_.add("slot %zu of PE %d, compared %s: byte %zu of the %zu of message %llu is wrong", s, from, when, at,
                  bytes, number(count));
}

void Messages::acknowledge(Random& random, int from, size_t s) {
  Incoming& in = in_[slot(from, s)];
  in.held = false;
  uint64_t* const ack = &acks_[slot(me_, s)];
  shmem_fence();  // the one before may have been of another kind, and is not complete because its effect was seen
  switch (random.below(3)) {
    case 0:
      return shmem_uint64_p(ack, in.count, from);
    case 1:
      return shmem_uint64_atomic_inc(ack, from);
    default:
      return shmem_signal_set(ack, in.count, from);
  }
}

}  // namespace rails
