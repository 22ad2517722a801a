// SPDX-License-Identifier: BSD-3-Clause
// floor_flag_pingpong: two processes, two cache lines, store and spin.
#include "perftest/floor/partner.h"
#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

constexpr uint64_t kStop = UINT64_MAX;

/// Waits until the flag is no longer `old`; acquire: what the other side stored before the flag is visible after.
uint64_t wait_change(const std::atomic<uint64_t>& flag, uint64_t old, const std::atomic<uint32_t>& stage) {
  for (uint32_t turn = 1;; ++turn) {
    const uint64_t value = flag.load(std::memory_order_acquire);
    if (value != old) return value;
    spin_turn(turn);
    if (turn % 65536 == 0 && stage.load(std::memory_order_relaxed) == kQuit) return kStop;
  }
}

void answer(SharedHead& head, char*) {
  head.child_stage.store(kReady, std::memory_order_release);
  for (uint64_t seen = 0;;) {
    seen = wait_change(head.ping, seen, head.parent_stage);
    if (seen == kStop) return;
    head.pong.store(seen, std::memory_order_release);
  }
}
const RegisterRole answer_role("flag", answer);

void floor_flag_pingpong(Context& context) {
  Partner partner("flag", 64);
  SharedHead& head = partner.head();
  uint64_t count = 0;
  const Distribution d = measure_alone(context.options, [&] {
    head.ping.store(count + 1, std::memory_order_release);
    wait_change(head.pong, count, head.parent_stage);
    ++count;
  });
  context.add_latency("one_way", sizeof count, {d}, 0.5);
  context.add_latency("round_trip", sizeof count, {d});
}

const Register bench({"floor_flag_pingpong",
                      "flag ping-pong of two processes through shared memory: us",
                      Place::floor,
                      {8, 8},
                      floor_flag_pingpong});

}  // namespace
}  // namespace railshmem::perf
