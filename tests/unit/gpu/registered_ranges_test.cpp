// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/registered_ranges.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "src/base/error.h"

namespace railshmem {
namespace {

const std::byte* place_at(uintptr_t address) {
  return reinterpret_cast<const std::byte*>(address);
}

std::string error_of_ranges(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RegisteredRanges, AreFoundByAnyPartOfThem) {
  RegisteredRanges ranges;
  ranges.add(place_at(1000), 100, nullptr);
  ranges.add(place_at(1100), 50, nullptr);
  EXPECT_EQ(ranges.find(place_at(1000), 100)->begin, place_at(1000));
  EXPECT_EQ(ranges.find(place_at(1099), 1)->begin, place_at(1000));
  EXPECT_EQ(ranges.find(place_at(1100), 50)->begin, place_at(1100));
  EXPECT_EQ(ranges.find(place_at(1099), 2), nullptr) << "two ranges, each an allocation of its own";
  EXPECT_EQ(ranges.find(place_at(999), 1), nullptr);
  EXPECT_EQ(ranges.find(place_at(1150), 1), nullptr);
  EXPECT_EQ(ranges.find(place_at(1000), ~size_t{0}), nullptr);
}

TEST(RegisteredRanges, DoNotOverlap) {
  RegisteredRanges ranges;
  ranges.add(place_at(1000), 100, nullptr);
  EXPECT_NO_THROW(ranges.require_free(place_at(900), 100));
  EXPECT_NO_THROW(ranges.require_free(place_at(1100), 100));
  for (const auto& [address, nbytes] : {std::pair<uintptr_t, size_t>{900, 101}, {1050, 1}, {1099, 100}, {900, 1000}})
    EXPECT_NE(error_of_ranges([&, a = address, n = nbytes] {
                ranges.require_free(place_at(a), n);
              }).find("overlap with the 100 bytes at 0x3e8 that are registered already"),
              std::string::npos);
}

TEST(RegisteredRanges, AreRemovedByTheirFirstAddressOnly) {
  RegisteredRanges ranges;
  ranges.add(place_at(1000), 100, nullptr);
  EXPECT_EQ(error_of_ranges([&] { ranges.remove(place_at(1004)); }),
            "0x3ec is in a registered buffer that begins at 0x3e8; pass that address");
  EXPECT_EQ(error_of_ranges([&] { ranges.remove(place_at(2000)); }).find("no registered buffer begins at 0x7d0"), 0u);
  EXPECT_EQ(ranges.remove(place_at(1000)).nbytes, 100u);
  EXPECT_EQ(ranges.count(), 0u);
  EXPECT_EQ(error_of_ranges([&] { ranges.remove(place_at(1000)); }).find("no registered buffer begins at 0x3e8"), 0u);
}

}  // namespace
}  // namespace railshmem
