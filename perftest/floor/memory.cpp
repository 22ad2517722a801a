// SPDX-License-Identifier: BSD-3-Clause
// floor_memcpy, floor_store, floor_fetch_add: plain instructions on memory that another process has mapped.
#include <time.h>

#include <cstring>

#include "perftest/floor/partner.h"
#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

/// Maps the memory, pages included, and sleeps: the lines stay shared, the core stays free.
void idle(SharedHead& head, char* payload) {
  volatile char sink = 0;
  for (uint64_t i = 0; i < head.nbytes; i += 4096) sink = payload[i];
  (void)sink;
  head.child_stage.store(kReady, std::memory_order_release);
  const timespec pause{0, 500'000};
  while (head.parent_stage.load(std::memory_order_acquire) != kQuit) nanosleep(&pause, nullptr);
}
const RegisterRole idle_role("idle", idle);

/// Stops the compiler from seeing that nobody reads the stores.
inline void keep_stores() noexcept {
  asm volatile("" ::: "memory");
}

void floor_memcpy(Context& context) {
  const std::vector<char> source(context.largest(), 1);
  Partner partner("idle", context.largest());
  const int window = context.options.window;
  for (const uint64_t bytes : context.sizes) {
    const Distribution d = measure_alone(context.options, [&] {
      for (int i = 0; i < window; ++i) {
        memcpy(partner.payload(), source.data(), bytes);
        keep_stores();
      }
    });
    context.add_bandwidth(bytes, static_cast<double>(bytes) * window, {d});
  }
}

void floor_store(Context& context) {
  Partner partner("idle", 4096);
  auto* word = reinterpret_cast<volatile uint64_t*>(partner.payload());
  uint64_t i = 0;
  const Distribution d = measure_alone(context.options, [&] { *word = ++i; });
  context.add_latency("latency", sizeof *word, {d});
  context.add_rate(sizeof *word, 1, {d});
}

void floor_fetch_add(Context& context) {
  Partner partner("idle", 4096);
  auto* word = reinterpret_cast<uint64_t*>(partner.payload());
  volatile uint64_t seen = 0;
  const Distribution d = measure_alone(context.options, [&] { seen = __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST); });
  context.add_latency("latency", sizeof *word, {d});
}

const Register memcpy_bench(
    {"floor_memcpy", "memcpy to memory shared with another process: GB/s", Place::floor, {8, 4 << 20}, floor_memcpy});
const Register store_bench(
    {"floor_store", "8-byte stores to shared memory: us and Mops/s", Place::floor, {8, 8}, floor_store});
const Register fetch_add_bench(
    {"floor_fetch_add", "lock xadd on shared memory: us", Place::floor, {8, 8}, floor_fetch_add});

}  // namespace
}  // namespace railshmem::perf
