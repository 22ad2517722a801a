// SPDX-License-Identifier: BSD-3-Clause
//
// A steady stream of large messages whose every byte is compared: what happens to it while rails come and go?
// PE i sends to PE i + N/2: put_nbi on a context per slot, quiet, signal; the receiver compares and hands the slot
// back. rail_stream [--seconds 10] [--until FILE] [--slots 8] [--bytes 1048576]. The senders stop after so many
// seconds, or when the file is there. The first receiver prints what arrived in every tenth of a second
// ("stream <time of day> <bytes>") and the longest pause between two messages. Exit status 0 = all was right.
#include <unistd.h>

#include <vector>

#include "traffic.h"

namespace {

using namespace rails;

constexpr size_t kMostSlots = 16;
constexpr uint64_t kStop = uint64_t{1} << 63;  // in a signal: nothing after this
constexpr double kTick = 0.1;

struct Words {
  uint64_t signal[kMostSlots];  ///< at the receiver: number of the message in the slot, counted from 1
  uint64_t ack[kMostSlots];     ///< at the sender: number of the message in the slot, once compared
};

struct Stream {
  Words* words;
  char* dest;
  char* source;
  size_t bytes;
  uint64_t slots;
  int peer;
};

/// `until`: a file, or null.
uint64_t send_all(const Stream& s, double seconds, const char* until) {
  std::vector<shmem_ctx_t> contexts(s.slots);
  for (shmem_ctx_t& context : contexts)
    if (shmem_ctx_create(0, &context) != 0) shmem_global_exit(1);
  // The oldest message in flight is completed and signalled just before its slot is needed again.
  const auto finish = [&](uint64_t n, uint64_t flags) {
    shmem_ctx_quiet(contexts[n % s.slots]);
    shmem_signal_set(&s.words->signal[n % s.slots], (n + 1) | flags, s.peer);
  };
  const double end = seconds_now() + seconds;
  const uint64_t ahead = s.slots / 2;  // the other half is being compared
  uint64_t n = 0;
  const auto is_over = [&] { return seconds_now() >= end || (until && access(until, F_OK) == 0); };
  for (; n <= ahead || !is_over(); ++n) {
    const uint64_t slot = n % s.slots;
    if (n >= s.slots) shmem_uint64_wait_until(&s.words->ack[slot], SHMEM_CMP_EQ, n - s.slots + 1);
    fill(s.source + slot * s.bytes, s.bytes, stamp_of(static_cast<uint64_t>(s.peer), n, slot));
    shmem_ctx_putmem_nbi(contexts[slot], s.dest + slot * s.bytes, s.source + slot * s.bytes, s.bytes, s.peer);
    if (n >= ahead) finish(n - ahead, 0);
  }
  for (uint64_t late = n - ahead; late < n; ++late) finish(late, late + 1 == n ? kStop : 0);
  for (shmem_ctx_t context : contexts) shmem_ctx_destroy(context);
  return n;
}

/// Arrivals by time of day.
class Timeline {
 public:
  void add(double now, size_t bytes) {
    if (messages_++ == 0) start_ = last_ = now;
    if (now - last_ > pause_) {
      pause_ = now - last_;
      pause_end_ = now;
    }
    last_ = now;
    const auto tick = static_cast<size_t>((now - start_) / kTick);
    if (tick >= ticks_.size()) ticks_.resize(tick + 1);
    ticks_[tick] += static_cast<double>(bytes);
  }
  void print() const {
    for (size_t t = 0; t < ticks_.size(); ++t)
      printf("stream %.1f %.0f\n", start_ + static_cast<double>(t) * kTick, ticks_[t]);
    printf("rail_stream: %lu messages, longest pause %.3f s, over at %.1f\n", messages_, pause_, pause_end_);
  }

 private:
  std::vector<double> ticks_;
  unsigned long messages_ = 0;
  double start_ = 0, last_ = 0, pause_ = 0, pause_end_ = 0;
};

Timeline receive_all(const Stream& s, Mistakes& mistakes) {
  Timeline timeline;
  for (uint64_t n = 0;; ++n) {
    const uint64_t slot = n % s.slots;
    const uint64_t before = n < s.slots ? 0 : n - s.slots + 1;
    const uint64_t signal = shmem_signal_wait_until(&s.words->signal[slot], SHMEM_CMP_NE, before);
    if ((signal & ~kStop) != n + 1)
      mistakes.add("slot %llu says message %llu, expected %llu", static_cast<unsigned long long>(slot),
                   static_cast<unsigned long long>(signal & ~kStop), static_cast<unsigned long long>(n + 1));
    const size_t at =
        broken_at(s.dest + slot * s.bytes, s.bytes, stamp_of(static_cast<uint64_t>(shmem_my_pe()), n, slot));
    if (at != s.bytes) mistakes.add("byte %zu of message %llu is wrong", at, static_cast<unsigned long long>(n));
    timeline.add(seconds_now(CLOCK_REALTIME), s.bytes);
    if (signal & kStop) return timeline;
    shmem_uint64_p(&s.words->ack[slot], n + 1, s.peer);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = option(argc, argv, "--seconds", 10);
  const char* const until = text_option(argc, argv, "--until");
  const auto slots = static_cast<uint64_t>(option(argc, argv, "--slots", 8));
  const auto bytes = static_cast<size_t>(option(argc, argv, "--bytes", 1 << 20));
  if (slots < 2 || slots > kMostSlots || bytes < 8) {
    fprintf(stderr, "rail_stream: --slots must be 2 to %zu and --bytes at least 8\n", kMostSlots);
    return 2;
  }
  limit_seconds(seconds);
  shmem_init();
  const int me = shmem_my_pe(), half = shmem_n_pes() / 2;
  const Stream stream{symmetric<Words>(1),
                      symmetric<char>(slots * bytes),
                      symmetric<char>(slots * bytes),
                      bytes,
                      slots,
                      me < half ? me + half : me - half};
  Mistakes mistakes;
  shmem_barrier_all();
  if (me < half)
    send_all(stream, seconds, until);
  else if (me < 2 * half) {
    const Timeline timeline = receive_all(stream, mistakes);
    if (me == half) timeline.print();
  }
  shmem_finalize();
  return mistakes.count() ? 1 : 0;
}
