// SPDX-License-Identifier: BSD-3-Clause
// Failover closes a rail in the middle of its work and opens it again. Whatever was in flight is lost for the closed
// end; nothing may crash or hang, and traffic must flow both ways over the new one.
#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/env.h"
#include "src/base/error.h"
#include "tests/support/rail_pair.h"
#include "transports/ofi/nic.h"
#include "transports/ofi/rail.h"

namespace railshmem::testing_support {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kBytes = size_t{1} << 20;
constexpr size_t kSlots = 256;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// One PE's end: its memory, what it knows of the regions, and a rail that may be replaced.
struct End {
  End() : heap(kBytes), regions(2 * kSegments), slots(kSlots) {}
  void open(const ofi::Nic& nic) {
    rail.emplace(nic, ofi::RailSetup{2, 1, kSlots, false, uint64_t{20} * 1000000000});
    const Segment segments[] = {{SegmentId::heap, heap.data(), kBytes}};
    mine = rail->expose(segments);
    failed = completed = posted = 0;
  }
  void learn(int pe, const End& other) {
    std::copy(other.mine.begin(), other.mine.end(), regions.begin() + static_cast<long>(pe * kSegments));
  }
  bool poll() {
    RailEvent events[8];
    const size_t n = rail->poll(events);
    for (const RailEvent& event : std::span(events, n)) {
      completed += event.kind == RailEvent::Kind::completed;
      failed += event.kind == RailEvent::Kind::failed;
      if (event.kind != RailEvent::Kind::message) continue;
      if (event.nbytes == sizeof last_message) std::memcpy(&last_message, event.bytes, sizeof last_message);
      rail->release(event);
    }
    return n != 0;
  }

  Pages heap;
  std::vector<ofi::RemoteRegion> regions;
  std::vector<ofi::RemoteRegion> mine;
  std::vector<OpSlot> slots;
  std::optional<ofi::Rail> rail;  // closed before the memory
  size_t posted = 0;
  size_t completed = 0;
  size_t failed = 0;
  uint64_t last_message = 0;
};

class OfiReopen : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      const Env env = Env::parse([&](const char* name) -> const char* {
        return name == std::string("SHMEM_OFI_PROVIDER") ? GetParam() : nullptr;
      });
      nics_ = ofi::find_nics(env, false);
      for (End& end : ends_) end.open(nics_.front());
    } catch (const Error& reason) {
      GTEST_SKIP() << reason.what();
    }
    for (End& end : ends_) introduce(end);
    ASSERT_NO_FATAL_FAILURE(traffic(0, 1, 1));
    ASSERT_NO_FATAL_FAILURE(traffic(1, 0, 2));
  }

  /// Connects a new rail to both PEs as they are now.
  void introduce(End& end) {
    for (int pe = 0; pe < 2; ++pe) end.learn(pe, ends_[pe]);
    std::vector<std::byte> addresses;
    for (const End& other : ends_) {
      const auto address = other.rail->address();
      addresses.insert(addresses.end(), address.begin(), address.end());
    }
    end.rail->connect(addresses, end.regions);
  }

  /// A write, a read and a message from one PE to the other, both being polled.
  void traffic(int from, int to, unsigned seed) {
    End& source = ends_[from];
    End& target = ends_[to];
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

  /// Writes, reads and messages that stay in flight, because their target is not polled. Some providers complete writes
  /// without the target.
  void leave_in_flight(End& source, int to) {
    const uint64_t word = 7;
    for (size_t i = 0; i < 60; ++i) {
      OpSlot& slot = source.slots[source.posted];
      Post answer = Post::again;
      if (i % 3 == 0) answer = source.rail->write({{to, SegmentId::heap, 0}, source.heap.data(), 16384, &slot, false});
      if (i % 3 == 1) answer = source.rail->read({{to, SegmentId::heap, 0}, source.heap.data() + 524288, 4096, &slot});
      if (i % 3 == 2)
        answer = source.rail->send({{to, Port::proxy}, reinterpret_cast<const std::byte*>(&word), sizeof word, &slot});
      ASSERT_NE(answer, Post::failed);
      source.posted += answer == Post::ok;
      source.poll();
    }
    ASSERT_GT(source.posted, 0u);
  }

  /// Closes and opens an end, as a failover does; the other end keeps its rail and learns the new address.
  void reopen(int pe) {
    End& end = ends_[pe];
    End& other = ends_[1 - pe];
    auto start = Clock::now();
    const size_t sockets = end.rail->discard_unsent();
    end.rail.reset();
    const double closing = ms_since(start);
    start = Clock::now();
    end.open(nics_.front());
    introduce(end);
    std::printf("%s: close %.1f ms (%zu sockets), open %.1f ms\n", GetParam(), closing, sockets, ms_since(start));
    other.learn(pe, end);
    other.rail->readdress(pe, Port::proxy, end.rail->address());
  }

  std::vector<ofi::Nic> nics_;
  End ends_[2];
};

TEST_P(OfiReopen, TheEndWithOperationsInFlight) {
  for (unsigned round = 0; round < 3; ++round) {
    ASSERT_NO_FATAL_FAILURE(leave_in_flight(ends_[0], 1));
    reopen(0);
    ASSERT_NO_FATAL_FAILURE(traffic(0, 1, 10 + round));
    ASSERT_NO_FATAL_FAILURE(traffic(1, 0, 20 + round));
  }
}

TEST_P(OfiReopen, TheEndThatOperationsInFlightGoTo) {
  for (unsigned round = 0; round < 3; ++round) {
    End& source = ends_[0];
    const size_t before = source.completed + source.failed;
    source.posted = 0;
    ASSERT_NO_FATAL_FAILURE(leave_in_flight(source, 1));
    reopen(1);
    const auto start = Clock::now();
    double last = 0;
    while (ms_since(start) < 500)
      if (source.poll()) last = ms_since(start);
    std::printf(
        "%s: of %zu operations to the closed end, %zu completed or failed (%zu failed in all), the last after %.1f "
        "ms\n",
        GetParam(), source.posted, source.completed + source.failed - before, source.failed, last);
    ASSERT_NO_FATAL_FAILURE(traffic(0, 1, 30 + round));
    ASSERT_NO_FATAL_FAILURE(traffic(1, 0, 40 + round));
  }
}

std::string short_name(const testing::TestParamInfo<const char*>& provider) {
  std::string name;
  for (const char* c = provider.param; *c; ++c)
    if (std::isalnum(static_cast<unsigned char>(*c))) name += *c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(Providers, OfiReopen, testing::Values("tcp;ofi_rxm", "net", "sockets", "shm", "udp;ofi_rxd"),
                         short_name);

}  // namespace
}  // namespace railshmem::testing_support
