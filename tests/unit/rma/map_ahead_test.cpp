// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/map_ahead.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "src/base/unique.h"

namespace railshmem {
namespace {

constexpr size_t kBytes = size_t{8} << 20;
constexpr long kPages = kBytes / 4096;

long faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

std::byte* mapping(int fd) {
  void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

/// Two mappings of one piece of memory, as the owner and a peer have them.
class MapAhead : public testing::Test {
 protected:
  void SetUp() override {
    fd_ = UniqueFd(memfd_create("map_ahead_test", MFD_CLOEXEC));
    ASSERT_GE(fd_.get(), 0);
    ASSERT_EQ(ftruncate(fd_.get(), kBytes), 0);
    owner_ = mapping(fd_.get());
    peer_ = mapping(fd_.get());
    ASSERT_TRUE(owner_ && peer_);
  }
  void TearDown() override {
    munmap(owner_, kBytes);
    munmap(peer_, kBytes);
  }
  UniqueFd fd_;
  std::byte* owner_ = nullptr;
  std::byte* peer_ = nullptr;
};

TEST_F(MapAhead, StoresToPagesOfTheOwnerFaultNoMore) {
  std::memset(owner_, 1, kBytes);
  map_ahead(peer_, kBytes);
  const long before = faults();
  std::memset(peer_, 2, kBytes);
  EXPECT_LT(faults() - before, kPages / 4);
  EXPECT_EQ(owner_[kBytes - 1], std::byte{2});
}

TEST_F(MapAhead, LeavesWhatIsThere) {
  std::memset(owner_, 7, kBytes);
  map_ahead(peer_ + 3, kBytes - 3);
  for (size_t i = 0; i < kBytes; i += 4095) ASSERT_EQ(owner_[i], std::byte{7}) << i;
}

TEST_F(MapAhead, TakesMemoryThatNobodyHasTouched) {
  map_ahead(peer_, kBytes);
  std::memset(peer_, 3, kBytes);
  EXPECT_EQ(owner_[kBytes / 2], std::byte{3});
}

}  // namespace
}  // namespace railshmem
