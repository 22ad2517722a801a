// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/one_gpu/engine_drain.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "perftest/engine/null_rail.h"
#include "src/base/cpu.h"
#include "src/proxy/channel_drain.h"

namespace railshmem::gpu_test {
namespace {

using perftest::NullRail;

struct Span {
  uint64_t first = ~uint64_t{0};
  uint64_t last = 0;
  double core_speed = 0;
};

/// Additions a nanosecond that do not wait for each other: as many as the core has units for.
double core_speed() {
  constexpr uint64_t kRounds = 200'000;
  uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
  const uint64_t began_ns = now_ns();
  for (uint64_t i = 0; i < kRounds; ++i) {
    ++a, ++b, ++c, ++d, ++e, ++f;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  }
  return 6.0 * kRounds / static_cast<double>(now_ns() - began_ns);
}

/// One thread.
Span drain_share(std::span<Channel* const> channels, uint64_t each, uint64_t give_up_ns) {
  constexpr size_t kCells = 4096;
  NullRail rail(kCells);
  Initiator<NullRail> initiator(std::span(&rail, 1), InitiatorConfig{Port::proxy, 0, 2, kCells});
  std::vector<std::unique_ptr<ChannelDrain<NullRail>>> drains;
  for (Channel* channel : channels) drains.push_back(std::make_unique<ChannelDrain<NullRail>>(*channel, initiator, 2));
  const auto finished = [each](Channel* channel) { return channel->next() == each && channel->in_flight() == 0; };
  Span span;
  span.core_speed = core_speed();
  for (uint32_t turn = 1;; ++turn) {  // what ProxySide does at every step
    initiator.poll([](size_t, const std::byte*, size_t) {});
    bool moved = false;
    for (auto& drain : drains) moved |= drain->step();
    if (moved && span.first > give_up_ns) span.first = now_ns();
    if (turn % 64 != 0) continue;
    if (std::all_of(channels.begin(), channels.end(), finished)) break;
    if (now_ns() < give_up_ns) continue;
    for (Channel* channel : channels) channel->fail(ChannelStatus::stopped);
    return span;
  }
  span.last = now_ns();
  span.core_speed = (span.core_speed + core_speed()) / 2;
  return span;
}

}  // namespace

Drained drain_with_engine(std::span<Channel* const> channels, size_t threads, uint64_t each, uint64_t patience_ns) {
  const uint64_t give_up_ns = now_ns() + patience_ns;
  std::vector<Span> spans(threads);
  {
    std::vector<std::jthread> running;
    for (size_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        std::vector<Channel*> mine;
        for (size_t i = t; i < channels.size(); i += threads) mine.push_back(channels[i]);
        spans[t] = drain_share(mine, each, give_up_ns);
      });
  }
  Span all = spans[0];
  for (const Span& span : spans) {
    if (span.last == 0) return {1, 0};
    all = {std::min(all.first, span.first), std::max(all.last, span.last), std::min(all.core_speed, span.core_speed)};
  }
  return {all.last - all.first, all.core_speed};
}

}  // namespace railshmem::gpu_test
