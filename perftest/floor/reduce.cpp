// SPDX-License-Identifier: BSD-3-Clause
// floor_reduce: two processes add up two vectors in shared memory, each writing the sum to an array of its own.
#include "perftest/floor/partner.h"
#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

constexpr uint64_t kStop = UINT64_MAX;
constexpr uint64_t kOneLine = 56;  // below this each side adds up everything: a second wait would cost more

/// The payload: the sources of both sides, then their dests.
struct Vectors {
  char* payload;
  uint64_t capacity;
  uint64_t* array(int i) const noexcept {
    return reinterpret_cast<uint64_t*>(payload + static_cast<uint64_t>(i) * capacity);
  }
};

/// Waits until the other side has come as far; acquire: its stores before are visible after. Returns false where the
/// parent quits.
bool await(const std::atomic<uint64_t>& flag, uint64_t value, const std::atomic<uint32_t>& stage) {
  for (uint32_t turn = 1;; ++turn) {
    const uint64_t seen = flag.load(std::memory_order_acquire);
    if (seen == kStop) return false;
    if (seen >= value) return true;
    spin_turn(turn);
    if (turn % 65536 == 0 && stage.load(std::memory_order_relaxed) == kQuit) return false;
  }
}

/// One side's part of a reduction of `bytes`. `step` grows by the number of flags that the part takes.
bool add_up(const Vectors& v, uint64_t bytes, int side, std::atomic<uint64_t>& mine, const std::atomic<uint64_t>& other,
            uint64_t& step, const std::atomic<uint32_t>& stage) {
  const uint64_t n = bytes / sizeof(uint64_t);
  const uint64_t *a = v.array(0), *b = v.array(1);
  mine.store(++step, std::memory_order_release);
  if (!await(other, step, stage)) return false;
  if (bytes <= kOneLine) {
    for (uint64_t i = 0; i < n; ++i) v.array(2 + side)[i] = a[i] + b[i];
    return true;
  }
  for (uint64_t i = side ? n / 2 : 0; i < (side ? n : n / 2); ++i) v.array(2)[i] = v.array(3)[i] = a[i] + b[i];
  mine.store(++step, std::memory_order_release);
  return await(other, step, stage);
}

void help(SharedHead& head, char* payload) {
  const Vectors v{payload, head.nbytes / 4};
  head.child_stage.store(kReady, std::memory_order_release);
  // The size is stored before the flag that announces the step, so it is read behind that flag.
  for (uint64_t step = 0; await(head.ping, step + 1, head.parent_stage);)
    if (!add_up(v, head.counter.load(std::memory_order_relaxed), 1, head.pong, head.ping, step, head.parent_stage))
      return;
}
const RegisterRole help_role("reduce", help);

void floor_reduce(Context& context) {
  const uint64_t capacity = (context.largest() + 63) / 64 * 64;
  Partner partner("reduce", 4 * capacity);
  SharedHead& head = partner.head();
  const Vectors v{partner.payload(), capacity};
  uint64_t step = 0;
  for (const uint64_t bytes : context.sizes) {
    head.counter.store(bytes, std::memory_order_relaxed);
    const Distribution d =
        measure_alone(context.options, [&] { add_up(v, bytes, 0, head.ping, head.pong, step, head.parent_stage); });
    context.add_latency("latency", bytes, {d});
  }
}

const Register bench({"floor_reduce",
                      "sum of two 64-bit vectors by two processes through shared memory: us",
                      Place::floor,
                      {8, 1 << 20},
                      floor_reduce});

}  // namespace
}  // namespace railshmem::perf
