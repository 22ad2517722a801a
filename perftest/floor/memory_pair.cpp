// SPDX-License-Identifier: BSD-3-Clause
// floor_memcpy_pair: two processes copy at once, each from memory of its own to memory that both map.
#include <cstring>

#include "perftest/floor/partner.h"
#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

/// The payload: one half for each side.
char* half(char* payload, uint64_t nbytes, int side) {
  return payload + static_cast<uint64_t>(side) * (nbytes / 2);
}

inline void copy(char* to, const std::vector<char>& from, uint64_t bytes) noexcept {
  memcpy(to, from.data(), bytes);
  asm volatile("" ::: "memory");  // the compiler must not see that nobody reads it
}

/// Copies blocks of the size that the parent names until it quits.
void copy_along(SharedHead& head, char* payload) {
  const std::vector<char> source(head.nbytes / 2, 2);
  head.child_stage.store(kReady, std::memory_order_release);
  while (head.parent_stage.load(std::memory_order_acquire) != kQuit)
    copy(half(payload, head.nbytes, 1), source, head.counter.load(std::memory_order_relaxed));
}
const RegisterRole copy_role("copy", copy_along);

void floor_memcpy_pair(Context& context) {
  const uint64_t capacity = (context.largest() + 4095) / 4096 * 4096;
  const std::vector<char> source(capacity, 1);
  Partner partner("copy", 2 * capacity);
  SharedHead& head = partner.head();
  const int window = context.options.window;
  for (const uint64_t bytes : context.sizes) {
    head.counter.store(bytes, std::memory_order_relaxed);
    const Distribution d = measure_alone(context.options, [&] {
      for (int i = 0; i < window; ++i) copy(half(partner.payload(), head.nbytes, 0), source, bytes);
    });
    context.add_bandwidth(bytes, static_cast<double>(bytes) * window, {d});
  }
}

const Register bench({"floor_memcpy_pair",
                      "floor_memcpy while a second process copies too, for one of the two: GB/s",
                      Place::floor,
                      {8, 4 << 20},
                      floor_memcpy_pair});

}  // namespace
}  // namespace railshmem::perf
