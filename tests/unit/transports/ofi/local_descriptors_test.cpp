// SPDX-License-Identifier: BSD-3-Clause
// Local buffers of a real domain, registered although none of the providers here asks for it.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "src/base/env.h"
#include "src/base/error.h"
#include "transports/ofi/local_descriptors.h"
#include "transports/ofi/nic.h"

namespace railshmem::ofi {
namespace {

class LocalMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      const Env env = Env::parse([](const char*) -> const char* { return nullptr; });
      NetworkConfig config{};
      config.env = &env;
      config.npes = 1;
      nics = find_nics(config);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    fi_info& info = *nics.front().info;
    fabric =
        own<fid_fabric>("fi_fabric", "", [&](fid_fabric** out) { return fi_fabric(info.fabric_attr, out, nullptr); });
    domain = own<fid_domain>("fi_domain", "",
                             [&](fid_domain** out) { return fi_domain(fabric.get(), &info, out, nullptr); });
    segment.resize(8192);
    segments.emplace_back(info, domain.get(), nullptr, segment, 1);
  }
  void open(const CacheLimits& limits, size_t operations) {
    shared = std::make_unique<LocalBuffers>(LocalBuffersConfig{true, limits});
    local.emplace(RegistrationSite{nics.front().info.get(), domain.get(), nullptr}, *shared, operations, "test rail");
  }
  int describe(const std::byte* p, size_t nbytes, size_t slot) {
    return local->describe(segments, p, nbytes, &slots[slot], desc);
  }
  std::string error_of(auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::vector<Nic> nics;
  Fid<fid_fabric> fabric;
  Fid<fid_domain> domain;
  std::vector<std::byte> segment;
  std::vector<MemoryRegion> segments;
  std::unique_ptr<LocalBuffers> shared;
  std::optional<LocalDescriptors> local;
  std::array<OpSlot, 8> slots;
  void* desc = nullptr;
};

constexpr CacheLimits kRoomy{size_t{1} << 30, 100};

TEST_F(LocalMemoryTest, WithoutACacheABufferIsRegisteredForItsOperationOnly) {
  open({0, 0}, 2);
  alignas(64) std::array<std::byte, 64> buffer{};
  const std::vector<std::byte> other(100000);
  EXPECT_EQ(describe(segment.data() + 8, 100, 0), 0);
  EXPECT_EQ(local->registered(), 0u) << "a buffer inside a segment was registered again";
  EXPECT_EQ(describe(buffer.data(), 64, 0), 0);
  EXPECT_EQ(describe(other.data(), other.size(), 1), 0);
  EXPECT_EQ(local->registered(), 2u);
  EXPECT_EQ(describe(buffer.data(), 64, 2), EAGAIN) << "more operations than were announced";
  local->forget(&slots[0]);
  EXPECT_EQ(local->registered(), 1u);
  EXPECT_EQ(describe(buffer.data(), 64, 2), 0);
  local->forget(&slots[1]);
  local->forget(&slots[2]);
  EXPECT_EQ(local->registered(), 0u);
}

TEST_F(LocalMemoryTest, DifferentMemoryAtTheSameAddressIsRegisteredAnew) {
  open(kRoomy, 4);
  if (!shared->monitor()) GTEST_SKIP() << shared->describe();
  constexpr size_t kBytes = size_t{1} << 20;
  const auto map = [&](void* at) {
    return static_cast<std::byte*>(
        mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0));
  };
  std::byte* p = map(nullptr);
  // The addresses stay taken, or another thread's mapping may lie there when the test maps its own.
  const auto take_away = [&] { mmap(p, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); };
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(describe(p, kBytes, i), 0);
    local->forget(&slots[i]);
  }
  EXPECT_EQ(local->counts().misses, 1u);
  EXPECT_EQ(local->counts().hits, 2u);
  take_away();
  ASSERT_EQ(map(p), p);
  ASSERT_EQ(describe(p, kBytes, 0), 0);
  EXPECT_EQ(local->counts().misses, 2u) << "the old registration names pages that are gone";
  EXPECT_EQ(local->counts().invalidations, 1u);
  EXPECT_EQ(local->registered(), 1u);

  // While an operation is still in flight, which no correct program does; nothing may break.
  take_away();
  ASSERT_EQ(map(p), p);
  ASSERT_EQ(describe(p, kBytes, 1), 0);
  EXPECT_EQ(local->registered(), 2u);
  local->forget(&slots[0]);
  EXPECT_EQ(local->registered(), 1u);
  local->forget(&slots[1]);
  munmap(p, kBytes);
}

TEST_F(LocalMemoryTest, BlocksFromMallocComeAndGo) {
  open(kRoomy, 4);
  if (!shared->monitor()) GTEST_SKIP() << shared->describe();
  for (int i = 0; i < 50; ++i) {
    const size_t nbytes = size_t{1} << (12 + i % 15);  // up to 64 MiB, which malloc always maps
    auto* p = static_cast<std::byte*>(std::malloc(nbytes));
    ASSERT_EQ(local->describe(segments, p, nbytes, &slots[0], desc), 0);
    local->forget(&slots[0]);
    std::free(p);
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's malloc keeps its memory";
#endif
  EXPECT_GT(local->counts().invalidations, 0u) << "large blocks are unmapped when freed";
}

TEST_F(LocalMemoryTest, ConstantDataIsASource) {
  open(kRoomy, 2);
  static const std::array<std::byte, 10000> constant{};
  EXPECT_EQ(describe(constant.data(), constant.size(), 0), 0);
  local->forget(&slots[0]);
}

TEST_F(LocalMemoryTest, ABufferRegisteredAheadIsUsedByItsBytes) {
  open(kRoomy, 4);
  std::vector<std::byte> buffer(50000);
  shared->add(std::span(buffer).subspan(100, 40000));
  EXPECT_EQ(describe(buffer.data() + 100, 40000, 0), 0);
  EXPECT_EQ(local->counts().misses, 0u);
  EXPECT_EQ(describe(buffer.data() + 99, 2, 1), 0);
  EXPECT_EQ(local->counts().misses, 1u) << "one byte is before it";
  const std::string message = error_of([&] { shared->remove(buffer.data() + 100); });
  EXPECT_NE(message.find("shmem_quiet"), std::string::npos) << message;
  local->forget(&slots[0]);
  local->forget(&slots[1]);
  shared->remove(buffer.data() + 100);
  EXPECT_EQ(describe(buffer.data() + 200, 100, 0), 0);
  EXPECT_EQ(local->counts().misses + local->counts().hits, 2u);
  local->forget(&slots[0]);
}

TEST_F(LocalMemoryTest, ARailThatComesLaterGetsTheBuffersToo) {
  open({0, 0}, 2);
  std::vector<std::byte> buffer(10000);
  shared->add(buffer);
  local.reset();
  local.emplace(RegistrationSite{nics.front().info.get(), domain.get(), nullptr}, *shared, 2, "reopened rail");
  EXPECT_EQ(describe(buffer.data(), buffer.size(), 0), 0);
  EXPECT_EQ(local->registered(), 0u);
  local->forget(&slots[0]);
  shared->remove(buffer.data());
}

/// One thread uses the rail in turns with others that register and unregister buffers, while all of them unmap memory.
TEST_F(LocalMemoryTest, BuffersComeAndGoWhileTheRailIsBusy) {
  open({size_t{1} << 30, 8}, 4);
  std::mutex turn;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        void* p = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const std::span bytes(static_cast<const std::byte*>(p), 1 << 16);
        {
          const std::lock_guard lock(turn);
          shared->add(bytes);
        }
        {
          const std::lock_guard lock(turn);
          shared->remove(bytes.data());
        }
        munmap(p, 1 << 16);
      }
    });
  }
  std::vector<std::byte> fixed(20000);
  {
    const std::lock_guard lock(turn);
    shared->add(fixed);
  }
  for (int i = 0; i < 2000; ++i) {
    auto* p =
        static_cast<std::byte*>(mmap(nullptr, 1 << 14, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    {
      const std::lock_guard lock(turn);
      EXPECT_EQ(local->describe(segments, p, 1 << 14, &slots[0], desc), 0);
      EXPECT_EQ(describe(fixed.data(), fixed.size(), 1), 0);
      local->forget(&slots[0]);
      local->forget(&slots[1]);
    }
    munmap(p, 1 << 14);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  if (shared->monitor()) {
    EXPECT_EQ(local->counts().hits, 0u) << "memory that was unmapped is never found again";
  }
  EXPECT_EQ(local->counts().misses, 2000u);
  shared->remove(fixed.data());
}

}  // namespace
}  // namespace railshmem::ofi
