// SPDX-License-Identifier: BSD-3-Clause
// Failover closes a rail in the middle of its work and opens it again. Whatever was in flight is lost for the closed
// end; nothing may crash or hang, and traffic must flow both ways over the new one.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "tests/support/rail_end.h"

namespace railshmem::testing_support {
namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class OfiReopen : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      nic_.emplace(first_nic(GetParam()));
      for (RailEnd& end : ends_) end.open(*nic_);
    } catch (const Error& reason) {
      GTEST_SKIP() << reason.what();
    }
    for (RailEnd& end : ends_) end.connect(ends_[0], ends_[1]);
    ASSERT_NO_FATAL_FAILURE(traffic(0, 1, 1));
    ASSERT_NO_FATAL_FAILURE(traffic(1, 0, 2));
  }

  /// A write, a read and a message from one PE to the other, both being polled.
  void traffic(int from, int to, unsigned seed) {
    RailEnd& source = ends_[from];
    RailEnd& target = ends_[to];
    const uint64_t word = 0x1000 + seed;
    constexpr size_t kSize = 50000;
    fill(source.heap.data(), kSize, seed);
    OpSlot slots[3];
    const size_t before = source.completed;
    const auto post = [&](auto&& attempt) {
      wait_for("a refused post", [&] {
        const Post answer = attempt();
        if (answer == Post::failed)
          throw std::runtime_error("post failed, error " + std::to_string(source.rail->last_error()));
        source.poll();
        target.poll();
        return answer == Post::ok;
      });
    };
    const auto reach = [&](const char* what, auto&& done) {
      wait_for(what, [&] {
        source.poll();
        target.poll();
        return done();
      });
    };
    const RailWrite write{{to, SegmentId::heap, 65536}, source.heap.data(), kSize, &slots[0], false};
    post([&] { return source.rail->write(write); });
    reach("the write", [&] { return source.completed > before; });
    ASSERT_EQ(first_wrong(target.heap.data() + 65536, kSize, seed), kSize);
    const RailRead read{{to, SegmentId::heap, 65536}, source.heap.data() + 262144, kSize, &slots[1]};
    post([&] { return source.rail->read(read); });
    reach("the read", [&] { return source.completed > before + 1; });
    ASSERT_EQ(first_wrong(source.heap.data() + 262144, kSize, seed), kSize);
    const RailSend message{{to, Port::proxy}, reinterpret_cast<const std::byte*>(&word), sizeof word, &slots[2]};
    post([&] { return source.rail->send(message); });
    reach("the message", [&] { return source.completed > before + 2 && target.last_message == word; });
  }

  /// Posts writes, reads and messages that stay in flight, because their target is not polled. Some providers complete
  /// writes and messages without the target. Returns how many were posted.
  size_t leave_in_flight(RailEnd& source, int to) {
    const uint64_t word = 7;
    size_t posted = 0;
    for (size_t i = 0; i < 60; ++i) {
      OpSlot& slot = slots_[next_slot_];
      Post answer = Post::again;
      if (i % 3 == 0) answer = source.rail->write({{to, SegmentId::heap, 0}, source.heap.data(), 16384, &slot, false});
      if (i % 3 == 1) answer = source.rail->read({{to, SegmentId::heap, 0}, source.heap.data() + 524288, 4096, &slot});
      if (i % 3 == 2)
        answer = source.rail->send({{to, Port::proxy}, reinterpret_cast<const std::byte*>(&word), sizeof word, &slot});
      EXPECT_NE(answer, Post::failed);
      posted += answer == Post::ok;
      next_slot_ += answer == Post::ok;
      source.poll();
    }
    EXPECT_GT(posted, 0u);
    return posted;
  }

  /// Closes and opens an end, as a failover does; the other end keeps its rail and learns the new address.
  void reopen(int pe) {
    RailEnd& end = ends_[pe];
    RailEnd& other = ends_[1 - pe];
    auto start = Clock::now();
    const size_t sockets = end.rail->discard_unsent();
    end.rail.reset();
    const double closing = ms_since(start);
    start = Clock::now();
    end.open(*nic_);
    end.connect(ends_[0], ends_[1]);
    std::printf("%s: close %.1f ms (%zu sockets), open %.1f ms\n", GetParam(), closing, sockets, ms_since(start));
    other.learn(pe, end);
    other.rail->readdress(pe, Port::proxy, end.rail->address());
  }

  std::optional<ofi::Nic> nic_;
  RailEnd ends_[2];
  // Never used twice: a provider may report an operation long after its target was closed.
  std::vector<OpSlot> slots_ = std::vector<OpSlot>(RailEnd::kSlots);
  size_t next_slot_ = 0;
};

TEST_P(OfiReopen, TheEndWithOperationsInFlight) {
  for (unsigned round = 0; round < 3; ++round) {
    leave_in_flight(ends_[0], 1);
    reopen(0);
    ASSERT_NO_FATAL_FAILURE(traffic(0, 1, 10 + round));
    ASSERT_NO_FATAL_FAILURE(traffic(1, 0, 20 + round));
  }
}

TEST_P(OfiReopen, TheEndThatOperationsInFlightGoTo) {
  for (unsigned round = 0; round < 3; ++round) {
    RailEnd& source = ends_[0];
    source.completed = source.failed = 0;
    const size_t posted = leave_in_flight(source, 1);
    reopen(1);
    const auto start = Clock::now();
    double last = 0;
    while (ms_since(start) < 500)
      if (source.poll()) last = ms_since(start);
    std::printf("%s: of %zu operations to the closed end %zu completed and %zu failed, the last after %.1f ms\n",
                GetParam(), posted, source.completed, source.failed, last);
    ASSERT_NO_FATAL_FAILURE(traffic(0, 1, 30 + round));
    ASSERT_NO_FATAL_FAILURE(traffic(1, 0, 40 + round));
  }
}

// Not shm: it cannot fail without its host, and in one process it keeps a pointer into the closed endpoint.
INSTANTIATE_TEST_SUITE_P(Providers, OfiReopen, testing::Values("tcp;ofi_rxm", "net", "sockets", "udp;ofi_rxd"),
                         [](const auto& provider) { return provider_name(provider.param); });

}  // namespace
}  // namespace railshmem::testing_support
