// SPDX-License-Identifier: BSD-3-Clause
//
// A PE that sees a signal or a flag sees the data before it, also when the data took a slow rail and the signal a fast
// one. PE i sends to PE i + N/2 in every way that promises an order; the receiver compares the data at once.
#include "traffic.h"

namespace {

using namespace rails;

constexpr int kOutOfOrder = 3;  // tells a violation from a crash
constexpr size_t kSizes[] = {8, 2000, 40000, 300000, 2 << 20};
constexpr size_t kLargest = 2 << 20;
constexpr uint64_t kStop = 1;  // in a go word: no more rounds

struct Message {
  char* dest;
  const char* source;
  size_t bytes;
  uint64_t* flag;
  uint64_t value;  ///< one more than in the round before
  int pe;
};

struct Way {
  const char* name;
  void (*send)(const Message&);
};

// clang-format off
const Way kWays[] = {
    {"put_signal", [](const Message& m) {
       shmem_putmem_signal(m.dest, m.source, m.bytes, m.flag, m.value, SHMEM_SIGNAL_SET, m.pe); }},
    {"put_signal_nbi", [](const Message& m) {
       shmem_putmem_signal_nbi(m.dest, m.source, m.bytes, m.flag, 1, SHMEM_SIGNAL_ADD, m.pe); }},
    {"put, fence, p", [](const Message& m) {
       shmem_putmem(m.dest, m.source, m.bytes, m.pe);
       shmem_fence();
       shmem_uint64_p(m.flag, m.value, m.pe); }},
    {"put, fence, signal_set", [](const Message& m) {
       shmem_putmem(m.dest, m.source, m.bytes, m.pe);
       shmem_fence();
       shmem_signal_set(m.flag, m.value, m.pe); }},
    {"put_nbi, fence, atomic_add", [](const Message& m) {
       shmem_putmem_nbi(m.dest, m.source, m.bytes, m.pe);
       shmem_fence();
       shmem_uint64_atomic_add(m.flag, 1, m.pe); }},
    {"put_nbi, fence, atomic_set", [](const Message& m) {
       shmem_putmem_nbi(m.dest, m.source, m.bytes, m.pe);
       shmem_fence();
       shmem_uint64_atomic_set(m.flag, m.value, m.pe); }},
    {"put_nbi, fence, put_signal", [](const Message& m) {  // most before the fence, a little with the signal
       const size_t tail = m.bytes / 8;
       shmem_putmem_nbi(m.dest, m.source, m.bytes - tail, m.pe);
       shmem_fence();
       shmem_putmem_signal(m.dest + m.bytes - tail, m.source + m.bytes - tail, tail, m.flag, m.value,
                           SHMEM_SIGNAL_SET, m.pe); }},
    {"two put_nbi, fence, put_signal_nbi", [](const Message& m) {
       const size_t third = m.bytes / 3;
       shmem_putmem_nbi(m.dest, m.source, third, m.pe);
       shmem_putmem_nbi(m.dest + third, m.source + third, third, m.pe);
       shmem_fence();
       shmem_putmem_signal_nbi(m.dest + 2 * third, m.source + 2 * third, m.bytes - 2 * third, m.flag, m.value,
                               SHMEM_SIGNAL_SET, m.pe); }},
};
// clang-format on
constexpr size_t kWayCount = sizeof kWays / sizeof kWays[0];
constexpr size_t kCases = kWayCount * (sizeof kSizes / sizeof kSizes[0]);

/// Symmetric: a round is go (sender to receiver), data and flag, ack (receiver to sender).
struct Words {
  alignas(64) uint64_t go;
  alignas(64) uint64_t flag;
  alignas(64) uint64_t ack;
};

const Way& way_of(uint64_t round) {
  return kWays[round % kWayCount];
}
size_t size_of(uint64_t round) {
  return kSizes[round % kCases / kWayCount];
}

/// Every case at least once, then until the time is over.
uint64_t send_all(Words* words, char* dest, char* source, int to, double seconds) {
  const double end = seconds_now() + seconds;
  uint64_t round = 0;
  for (; round < kCases || seconds_now() < end; ++round) {
    const size_t bytes = size_of(round);
    fill(source, bytes, stamp_of(static_cast<uint64_t>(to), round, bytes));
    shmem_uint64_p(&words->go, (round + 1) << 1, to);
    way_of(round).send({dest, source, bytes, &words->flag, round + 1, to});
    shmem_quiet();
    shmem_uint64_wait_until(&words->ack, SHMEM_CMP_GE, round + 1);
  }
  shmem_uint64_p(&words->go, ((round + 1) << 1) | kStop, to);
  return round;
}

uint64_t receive_all(Words* words, const char* dest, int from, Mistakes& mistakes) {
  for (uint64_t round = 0;; ++round) {
    shmem_uint64_wait_until(&words->go, SHMEM_CMP_GE, (round + 1) << 1);
    if (shmem_uint64_atomic_fetch(&words->go, shmem_my_pe()) & kStop) return round;
    const size_t bytes = size_of(round);
    const uint64_t stamp = stamp_of(static_cast<uint64_t>(shmem_my_pe()), round, bytes);
    shmem_signal_wait_until(&words->flag, SHMEM_CMP_GE, round + 1);
    const size_t at = broken_at(dest, bytes, stamp);
    if (at != bytes)
      mistakes.add("%s: the flag of round %llu is here, byte %zu of %zu is not", way_of(round).name,
                   static_cast<unsigned long long>(round), at, bytes);
    shmem_uint64_p(&words->ack, round + 1, from);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = option(argc, argv, "--seconds", 5);
  limit_seconds(seconds);
  shmem_init();
  const int me = shmem_my_pe(), half = shmem_n_pes() / 2;
  auto* words = symmetric<Words>(1);
  auto* dest = symmetric<char>(kLargest);
  auto* source = symmetric<char>(kLargest);
  Mistakes mistakes;
  shmem_barrier_all();
  if (me < half) {
    const uint64_t sent = send_all(words, dest, source, me + half, seconds);
    printf("rail_order: PE %d sent %llu messages, %zu ways and sizes\n", me, static_cast<unsigned long long>(sent),
           kCases);
  } else if (me < 2 * half) {
    const uint64_t received = receive_all(words, dest, me - half, mistakes);
    printf("rail_order: PE %d: %lu of %llu messages came after their flags\n", me, mistakes.count(),
           static_cast<unsigned long long>(received));
  }
  shmem_finalize();
  return mistakes.count() ? kOutOfOrder : 0;
}
