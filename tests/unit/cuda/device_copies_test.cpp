// SPDX-License-Identifier: BSD-3-Clause
// Copies that are over when the call returns.
#include "src/cuda/device_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "src/base/cpu.h"
#include "src/cuda/context_guard.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem::cuda {
namespace {

TEST(DeviceCopies, AreThereWhenTheCallReturns) {
  FakeDriver fake({.late_us = 300});
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
    DeviceCopies copies(gpu);
    std::byte* const device = fake.allocate(1 << 20);
    std::vector<std::byte> source(1 << 20, std::byte{1});
    for (unsigned char turn = 1; turn < 20; ++turn) {
      std::fill(source.begin(), source.end(), std::byte{turn});
      copies.copy(device, source.data(), source.size());
      ASSERT_EQ(std::count(device, device + (1 << 20), std::byte{turn}), 1 << 20);
      copies.fill(device, 200, 1 << 19);
      ASSERT_EQ(std::count(device, device + (1 << 20), std::byte{200}), 1 << 19);
      copies.copy(source.data(), device, source.size());
      ASSERT_EQ(source[0], std::byte{200});
      ASSERT_EQ(source.back(), std::byte{turn});
    }
    copies.copy(device, nullptr, 0);
    copies.fill(device, 1, 0);
    fake.release(device);
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(DeviceCopies, ManyThreadsShareFewLanes) {
  FakeDriver fake({.late_us = 50});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  DeviceCopies copies(gpu);
  constexpr size_t kThreads = 8;
  constexpr size_t kBytes = 5000;
  std::byte* const device = fake.allocate(kThreads * kBytes);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::byte> mine(kBytes);
      std::vector<std::byte> back(kBytes);
      for (size_t turn = 0; turn < 40; ++turn) {
        std::fill(mine.begin(), mine.end(), static_cast<std::byte>(turn * kThreads + t));
        copies.copy(device + t * kBytes, mine.data(), kBytes);
        copies.copy(back.data(), device + t * kBytes, kBytes);
        ASSERT_EQ(mine, back);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  fake.release(device);
}

/// What cuMemcpy would do, and copies of blocking streams: wait for a kernel that waits for this copy.
TEST(DeviceCopies, DoNotWaitForKernelsOfTheDefaultStream) {
  FakeDriver fake;
  const Driver& driver = fake.driver();
  const DeviceContext gpu = DeviceContext::primary(driver, 0);
  DeviceCopies copies(gpu);
  std::byte* const device = fake.allocate(4096);
  auto* const flag = reinterpret_cast<uint64_t*>(device);
  bool seen = false;
  fake.add_module(&fake, {{{"wait_for_flag",
                            {{sizeof flag},
                             [&](const FakeLaunch& launch) {
                               uint64_t* const word = *static_cast<uint64_t**>(launch.parameters[0]);
                               const uint64_t began = now_ns();
                               while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0)
                                 if (now_ns() - began > 10'000'000'000u) return;
                               seen = true;
                             }}}},
                          {}});
  const ContextGuard guard(gpu);
  Module module = nullptr;
  Function kernel = nullptr;
  ASSERT_EQ(driver.module_load(&module, &fake), kSuccess);
  ASSERT_EQ(driver.module_function(&kernel, module, "wait_for_flag"), kSuccess);
  void* parameters[] = {const_cast<uint64_t**>(&flag)};
  ASSERT_EQ(driver.launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), kSuccess);
  const uint64_t one = 1;
  copies.copy(device, &one, sizeof one);
  ASSERT_EQ(driver.stream_synchronize(nullptr), kSuccess);
  EXPECT_TRUE(seen);
  driver.module_unload(module);
  fake.release(device);
}

/// Up to 256 KiB of pageable memory go by way of pinned memory, and 32 copies to it at once.
TEST(DeviceCopies, PageableMemoryOfAnyLength) {
  FakeDriver fake({.late_us = 30});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  DeviceCopies copies(gpu);
  constexpr size_t kMost = 2'000'000;
  std::byte* const device = fake.allocate(kMost);
  std::vector<std::byte> source(kMost), back(kMost);
  for (size_t i = 0; i < kMost; ++i) source[i] = static_cast<std::byte>(i % 251);
  for (const size_t nbytes :
       {size_t{1}, size_t{8}, size_t{262'143}, size_t{262'144}, size_t{262'145}, size_t{524'289}, kMost}) {
    std::fill(back.begin(), back.end(), std::byte{255});
    copies.copy(device, source.data(), nbytes);
    copies.copy(back.data(), device, nbytes);
    EXPECT_TRUE(std::equal(source.begin(), source.begin() + static_cast<long>(nbytes), back.begin())) << nbytes;
    EXPECT_EQ(std::count(back.begin() + static_cast<long>(nbytes), back.end(), std::byte{255}),
              static_cast<long>(kMost - nbytes));
  }
  constexpr size_t kStep = 2003;
  std::vector<DeviceCopy> in, out;
  for (size_t at = 0; at + kStep <= kMost; at += kStep) {
    in.push_back({device + at, source.data() + kMost - kStep - at, kStep});
    out.push_back({back.data() + kMost - kStep - at, device + at, kStep});
  }
  copies.copy_all(in);
  std::fill(back.begin(), back.end(), std::byte{255});
  copies.copy_all(out);
  const size_t whole = kMost / kStep * kStep;
  EXPECT_TRUE(std::equal(source.end() - static_cast<long>(whole), source.end(), back.end() - static_cast<long>(whole)));
  fake.release(device);
}

/// The driver lets one thread at a time copy pageable memory, and keeps it until its stream is over.
TEST(DeviceCopies, DoNotWaitForTheProgramsPageableCopies) {
  FakeDriver fake;
  const Driver& driver = fake.driver();
  const DeviceContext gpu = DeviceContext::primary(driver, 0);
  DeviceCopies copies(gpu);
  std::byte* const device = fake.allocate(4096);
  auto* const word = reinterpret_cast<uint32_t*>(device);
  *word = 0;
  std::atomic<bool> over{false};
  std::thread program([&] {
    const ContextGuard guard(gpu);
    Stream stream = nullptr;
    StreamWordOp wait{WordOp::wait_32, 0, address_of(word), 7, kWordReaches};
    std::byte seen[64];
    EXPECT_EQ(driver.stream_create(&stream, kStreamNonBlocking, 0), kSuccess);
    EXPECT_EQ(driver.stream_word_ops(stream, 1, &wait, 0), kSuccess);
    EXPECT_EQ(driver.copy_async(address_of(seen), address_of(device), sizeof seen, stream), kSuccess);
    over = true;
    EXPECT_EQ(driver.stream_destroy(stream), kSuccess);
  });
  while (fake.calls("cuMemcpyAsync") == 0) std::this_thread::yield();
  const uint32_t seven = 7;
  uint32_t seen = 0;
  copies.copy(device + 128, &seven, sizeof seven);
  copies.copy(&seen, device + 128, sizeof seen);
  EXPECT_EQ(seen, 7u);
  EXPECT_FALSE(over);
  copies.copy(device, &seven, sizeof seven);  // what the stream waits for
  program.join();
  fake.release(device);
}

TEST(DeviceCopiesDeathTest, AFailureEndsTheJobWithTheDriversWords) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // the fake has a thread, which may hold its lock
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  DeviceCopies copies(gpu);
  std::byte host[64] = {};
  EXPECT_EXIT(copies.fill(host, 0, 64), ::testing::ExitedWithCode(1), "cuMemsetD8Async on GPU 0 .* invalid argument");
}

}  // namespace
}  // namespace railshmem::cuda
