// SPDX-License-Identifier: BSD-3-Clause
// Where writes leave no event at their target, a stream of them keeps that target awake by messages.
#include <gtest/gtest.h>

#include <optional>

#include "src/base/cpu.h"
#include "src/proxy/host_side.h"
#include "tests/support/host_calls.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {
namespace {

/// One operation at a time, as shm does with small writes of which it reports the delivery: everything else is refused
/// until the target has looked.
class SerialRail : public ScriptedRail {
 public:
  Post write(const RailWrite& w) noexcept { return take(w.slot); }
  Post send(const RailSend& s) noexcept {
    const Post taken = take(s.slot);
    if (taken == Post::ok) ++messages;
    return taken;
  }
  size_t poll(std::span<RailEvent> out) noexcept {
    if (under_way_ == nullptr || ++looks_ % kLooksPerOperation != 0) return 0;
    out[0] = {RailEvent::Kind::completed, 0, under_way_, nullptr, 0, nullptr};
    under_way_ = nullptr;
    return 1;
  }
  int wait_fd() const noexcept { return -1; }

  int messages = 0;

 private:
  static constexpr uint32_t kLooksPerOperation = 3;
  Post take(OpSlot* slot) noexcept {
    if (under_way_ != nullptr) return Post::again;
    under_way_ = slot;
    return Post::ok;
  }
  OpSlot* under_way_ = nullptr;
  uint32_t looks_ = 0;
};

TEST(PeerDoorbell, IsTriedAgainUntilTheRailTakesIt) {
  const InitiatorConfig config{Port::host, 0, 2, 64, {}};
  SerialRail rail;
  SerialRail proxy_rail;
  Sleeper sleeper;
  std::optional<ProxySide<SerialRail>> proxy;
  proxy.emplace(std::span(&proxy_rail, 1), std::span<const Segment>(), config);
  HostSide<SerialRail> host(std::span(&rail, 1), config, HostConfig{HostThreads::one, true, 60}, *proxy, sleeper);
  NetContext* const context = host.make_context();
  const uint64_t word = 1;
  constexpr int kRings = 5;  // one in 200 us
  const uint64_t began = now_ns();
  while (rail.messages < kRings && now_ns() - began < 5'000'000'000)
    host_put_nbi(host, *context, {1, SegmentId::heap, 0}, &word, sizeof word);  // always behind the one before
  EXPECT_GE(rail.messages, kRings);
  host.drop_context(*context);
}

}  // namespace
}  // namespace railshmem::test
