// SPDX-License-Identifier: BSD-3-Clause
// Several endpoints of one process on one interface: what a machine with one NIC needs to run with several rails.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "tests/support/ofi_fabric.h"
#include "tests/support/rail_end.h"

namespace railshmem::testing_support {
namespace {

constexpr size_t kRails = 4;
constexpr size_t kArea = 65536;  // of each write, in the target's and in the source's heap

class OfiManyRails : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      must_serve_one_process(GetParam());
      const ofi::Nic nic = first_nic(GetParam());
      for (auto& rails : ends_)
        for (RailEnd& end : rails) end.open(nic);
    } catch (const Error& reason) {
      GTEST_SKIP() << reason.what();
    }
    // Rail r of one PE talks to rail r + 1 of the other, so that a mix-up of rails shows.
    for (size_t r = 0; r < kRails; ++r) {
      ends_[0][r].connect(ends_[0][r], ends_[1][(r + 1) % kRails]);
      ends_[1][(r + 1) % kRails].connect(ends_[0][r], ends_[1][(r + 1) % kRails]);
    }
  }
  void poll() {
    for (auto& rails : ends_)
      for (RailEnd& end : rails) end.poll();
  }
  template <class Try>
  void post(Try&& attempt) {
    wait_for("refused posts", [&] {
      const Post answer = attempt();
      if (answer == Post::failed) throw std::runtime_error("post failed");
      poll();
      return answer == Post::ok;
    });
  }

  RailEnd ends_[2][kRails];
};

TEST_P(OfiManyRails, CarryTrafficSideBySide) {
  std::vector<OpSlot> slots(2 * kRails);
  size_t rounds = 0;
  for (size_t nbytes : {size_t{8}, size_t{3000}, kArea}) {
    for (unsigned round = 0; round < 20; ++round) {
      ++rounds;
      for (int from = 0; from < 2; ++from) {
        for (size_t r = 0; r < kRails; ++r) {
          RailEnd& source = ends_[from][r];
          OpSlot* slot = &slots[static_cast<size_t>(from) * kRails + r];
          fill(source.heap.data(), nbytes, round + static_cast<unsigned>(r));
          const RailWrite write{{1 - from, SegmentId::heap, kArea}, source.heap.data(), nbytes, slot, false};
          post([&] { return source.rail->write(write); });
          const uint64_t word = rounds * 100 + r;
          const auto* bytes = reinterpret_cast<const std::byte*>(&word);
          post([&] { return source.rail->send({{1 - from, Port::proxy}, bytes, sizeof word, nullptr}); });
        }
      }
      wait_for("writes and messages of all rails", [&] {
        poll();
        bool done = true;
        for (const auto& rails : ends_)
          for (const RailEnd& end : rails) done = done && end.completed == rounds && end.messages == rounds;
        return done;
      });
      for (size_t r = 0; r < kRails; ++r) {
        const auto seed = round + static_cast<unsigned>(r);
        const size_t peer = (r + 1) % kRails;
        ASSERT_EQ(first_wrong(ends_[1][peer].heap.data() + kArea, nbytes, seed), nbytes);
        ASSERT_EQ(ends_[1][peer].last_message, rounds * 100 + r);
        ASSERT_EQ(first_wrong(ends_[0][r].heap.data() + kArea, nbytes, round + static_cast<unsigned>(peer)), nbytes);
        ASSERT_EQ(ends_[0][r].last_message, rounds * 100 + peer);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Providers, OfiManyRails,
                         testing::Values("tcp;ofi_rxm", "net", "sockets", "shm", "udp;ofi_rxd"),
                         [](const auto& provider) { return provider_name(provider.param); });

}  // namespace
}  // namespace railshmem::testing_support
