// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/common_address.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "tests/support/thread_bootstrap.h"

namespace railshmem {
namespace {

constexpr size_t kStride = size_t{4} << 20;

/// A job of processes elsewhere: what they say is made up, and this process is PE `pe`.
class ScriptedBootstrap final : public Bootstrap {
 public:
  ScriptedBootstrap(int pe, std::vector<uint32_t> masks) : pe_(pe), masks_(std::move(masks)) {}
  std::string_view name() const noexcept override { return "scripted"; }
  int pe() const noexcept override { return pe_; }
  int npes() const noexcept override { return static_cast<int>(masks_.size()); }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::memcpy(&masks_[static_cast<size_t>(pe_)], mine.data(), sizeof(uint32_t));
    std::memcpy(all.data(), masks_.data(), all.size());
  }
  void barrier() override {}
  void notify_end(int, std::string_view) noexcept override {}

 private:
  const int pe_;
  std::vector<uint32_t> masks_;
};

const std::byte* own_slot(const PlacedArena& placed, size_t slot) {
  return placed.arena.address(slot);
}

TEST(CommonAddress, TheOwnSlotIsThereWhateverItsNumber) {
  constexpr uint32_t kAll = ~0u;
  ScriptedBootstrap leader(0, {0, kAll, kAll});
  std::optional<PlacedArena> first(place_arena(leader, 3, 0, kStride, false));
  if (first->place.find("on all PEs") == std::string::npos) GTEST_SKIP() << first->place;
  const std::byte* const heap = own_slot(*first, 0);
  first.reset();
  ScriptedBootstrap third(2, {kAll, kAll, 0});
  const PlacedArena placed = place_arena(third, 3, 2, kStride, false);
  EXPECT_EQ(own_slot(placed, 2), heap);
  EXPECT_EQ(placed.arena.base() + 2 * kStride, heap);
  EXPECT_NE(placed.place.find(text("at %p on all PEs", static_cast<const void*>(heap))), std::string::npos)
      << placed.place;
}

TEST(CommonAddress, TheFirstThatIsFreeOnAllPesIsTaken) {
  ScriptedBootstrap all(0, {0, ~0u, ~0u});
  ScriptedBootstrap one_lacks_the_first(0, {0, ~0u, ~1u});
  std::optional<PlacedArena> first(place_arena(all, 1, 0, kStride, false));
  const std::byte* const heap = own_slot(*first, 0);
  first.reset();
  const PlacedArena second = place_arena(one_lacks_the_first, 1, 0, kStride, false);
  if (second.place.find("on all PEs") == std::string::npos) GTEST_SKIP() << second.place;
  EXPECT_NE(own_slot(second, 0), heap);
}

TEST(CommonAddress, WithoutOneTheArenaIsWhereTheSystemPutsIt) {
  ScriptedBootstrap job(0, {0, ~0u, 0});
  const PlacedArena placed = place_arena(job, 3, 0, kStride, false);
  EXPECT_EQ(placed.place, "at addresses that differ between PEs: PE 2 has other memory at the common ones");
  EXPECT_EQ(placed.arena.nslots(), 3u);
}

TEST(CommonAddress, TwoPesOfOneProcessDoNotShareIt) {
  ThreadMeeting meeting(2);
  std::vector<std::string> places(2);
  std::vector<std::thread> pes;
  for (int pe = 0; pe < 2; ++pe)
    pes.emplace_back([&, pe] {
      ThreadBootstrap bootstrap(meeting, pe);
      const PlacedArena placed = place_arena(bootstrap, 2, static_cast<size_t>(pe), kStride, false);
      places[static_cast<size_t>(pe)] = placed.place;
      bootstrap.barrier();  // both are held at once
    });
  for (std::thread& pe : pes) pe.join();
  EXPECT_EQ(places[0], places[1]);
  EXPECT_EQ(places[0].rfind("at addresses that differ between PEs: ", 0), 0u) << places[0];
}

TEST(CommonAddress, SlotsBelowAddressZeroAreNotAskedFor) {
  ScriptedBootstrap job(0, {0});
  const size_t huge = size_t{1} << 44;
  const PlacedArena placed = place_arena(job, 3, 2, huge, false);
  EXPECT_EQ(placed.arena.nslots(), 3u);
}

}  // namespace
}  // namespace railshmem
