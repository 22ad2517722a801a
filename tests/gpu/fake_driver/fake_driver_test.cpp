// SPDX-License-Identifier: BSD-3-Clause
// The fake driver is as strict as the real one: what these tests want of it, others rely on.
#include "tests/gpu/fake_driver/fake_driver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "src/base/cpu.h"

namespace railshmem::cuda {
namespace {

constexpr size_t kFakeUnit = size_t{2} << 20;

/// A driver whose primary context is current on this thread.
struct FakeRig {
  explicit FakeRig(const FakeOptions& options = {}) : fake(options), driver(fake.driver()) {
    driver.primary_retain(&context, 0);
    driver.set_context(context);
  }
  ~FakeRig() {
    driver.set_context(nullptr);
    driver.primary_release(0);
    EXPECT_EQ(fake.leaks(), "");
  }
  Stream stream(unsigned flags = kStreamNonBlocking) {
    Stream made = nullptr;
    EXPECT_EQ(driver.stream_create(&made, flags, 0), kSuccess);
    return made;
  }
  FakeDriver fake;
  const Driver& driver;
  Context context = nullptr;
};

TEST(FakeDriver, CallsWithoutAContextFail) {
  FakeDriver fake;
  const Driver& driver = fake.driver();
  Stream stream = nullptr;
  MemoryHandle handle = 0;
  AllocationProperties properties;
  EXPECT_EQ(driver.stream_create(&stream, 0, 0), kInvalidContext);
  EXPECT_EQ(driver.memory_create(&handle, kFakeUnit, &properties, 0), kInvalidContext);
  std::thread([&] { EXPECT_EQ(driver.stream_query(nullptr), kInvalidContext); }).join();
}

TEST(FakeDriver, StreamsOfAnotherContextAreRefused) {
  FakeRig rig;
  const Stream stream = rig.stream();
  const Context other = rig.fake.make_context(0);
  rig.driver.push_context(other);
  EXPECT_EQ(rig.driver.stream_query(stream), kInvalidHandle);
  EXPECT_EQ(rig.driver.stream_destroy(nullptr), kInvalidHandle);
  rig.driver.pop_context(nullptr);
  EXPECT_EQ(rig.driver.stream_query(stream), kSuccess);
  EXPECT_EQ(rig.driver.stream_destroy(stream), kSuccess);
  EXPECT_EQ(rig.driver.stream_destroy(stream), kInvalidHandle);
}

TEST(FakeDriver, FailuresComeWhenTheyWereOrdered) {
  FakeRig rig;
  rig.fake.fail("cuStreamQuery", 2, kIllegalAddress);
  const Stream stream = rig.stream();
  EXPECT_EQ(rig.driver.stream_query(stream), kSuccess);
  EXPECT_EQ(rig.driver.stream_query(stream), kIllegalAddress);
  EXPECT_EQ(rig.driver.stream_query(stream), kSuccess);
  EXPECT_EQ(rig.fake.calls("cuStreamQuery"), 3);
  rig.driver.stream_destroy(stream);
}

TEST(FakeDriver, LeaksAreCounted) {
  FakeRig rig;
  const Stream stream = rig.stream();
  Event event = nullptr;
  rig.driver.event_create(&event, 0);
  EXPECT_EQ(rig.fake.leaks(), "1 stream, 1 event, 1 retained context, 1 context of this thread");
  rig.driver.stream_destroy(stream);
  rig.driver.event_destroy(event);
}

TEST(FakeDriver, MappingsAreWholeOrNotAtAll) {
  FakeRig rig;
  const Driver& driver = rig.driver;
  AllocationProperties properties;
  MemoryHandle handle = 0;
  Address range = 0;
  const AccessDescription access{};
  ASSERT_EQ(driver.memory_create(&handle, 2 * kFakeUnit, &properties, 0), kSuccess);
  ASSERT_EQ(driver.address_reserve(&range, 8 * kFakeUnit, 0, 0, 0), kSuccess);
  EXPECT_EQ(driver.memory_map(range + 7 * kFakeUnit, 2 * kFakeUnit, 0, handle, 0), kInvalidValue) << "beyond the end";
  EXPECT_EQ(driver.memory_map(range + 4096, kFakeUnit, 0, handle, 0), kInvalidValue) << "no granule";
  ASSERT_EQ(driver.memory_map(range, 2 * kFakeUnit, 0, handle, 0), kSuccess);
  EXPECT_EQ(driver.memory_map(range + kFakeUnit, kFakeUnit, 0, handle, 0), kInvalidValue) << "taken";
  std::byte host[8] = {};
  EXPECT_EQ(driver.copy(address_of(host), range, 8), kInvalidValue) << "no access yet";
  EXPECT_EQ(driver.memory_set_access(range, kFakeUnit, &access, 1), kInvalidValue) << "a part";
  ASSERT_EQ(driver.memory_set_access(range, 2 * kFakeUnit, &access, 1), kSuccess);
  EXPECT_EQ(driver.copy(address_of(host), range, 8), kSuccess);
  EXPECT_EQ(driver.copy(address_of(host), range + 2 * kFakeUnit - 4, 8), kInvalidValue) << "half of it is not mapped";
  EXPECT_EQ(driver.address_free(range, 8 * kFakeUnit), kInvalidValue) << "still in use";
  EXPECT_EQ(driver.memory_unmap(range, kFakeUnit), kInvalidValue) << "a part";
  EXPECT_EQ(driver.memory_unmap(range, 2 * kFakeUnit), kSuccess);
  EXPECT_EQ(driver.memory_release(handle), kSuccess);
  EXPECT_EQ(driver.memory_release(handle), kInvalidValue);
  EXPECT_EQ(driver.address_free(range, 8 * kFakeUnit), kSuccess);
}

TEST(FakeDriver, EventsTellWhatWasBeforeThem) {
  FakeRig rig;
  const Driver& driver = rig.driver;
  std::byte* const device = rig.fake.allocate(64);
  const Stream first = rig.stream();
  const Stream second = rig.stream();
  Event event = nullptr;
  ASSERT_EQ(driver.event_create(&event, kEventWithoutTiming), kSuccess);
  EXPECT_EQ(driver.event_query(event), kSuccess) << "never recorded";
  rig.fake.hold(true);
  driver.fill_async(address_of(device), 1, 64, first);
  driver.event_record(event, first);
  driver.fill_async(address_of(device), 2, 32, first);
  driver.stream_wait_event(second, event, 0);
  driver.fill_async(address_of(device) + 32, 3, 32, second);
  EXPECT_EQ(driver.event_query(event), kNotReady);
  rig.fake.hold(false);
  EXPECT_EQ(driver.event_synchronize(event), kSuccess);
  EXPECT_EQ(driver.stream_synchronize(second), kSuccess);
  EXPECT_EQ(driver.stream_synchronize(first), kSuccess);
  EXPECT_EQ(device[0], std::byte{2});
  EXPECT_EQ(device[63], std::byte{3});
  driver.event_destroy(event);
  driver.stream_destroy(first);
  driver.stream_destroy(second);
  rig.fake.release(device);
}

TEST(FakeDriver, StreamsWaitForWordsAndWriteThem) {
  FakeRig rig({.late_us = 100});
  const Driver& driver = rig.driver;
  std::byte* const device = rig.fake.allocate(64);
  auto* const words = reinterpret_cast<uint64_t*>(device);
  const Stream stream = rig.stream();
  ASSERT_EQ(driver.stream_wait_64(stream, address_of(words), 5, kWordReaches), kSuccess);
  ASSERT_EQ(driver.stream_write_64(stream, address_of(words + 1), 8, 0), kSuccess);
  StreamWordOp ops[2] = {{WordOp::wait_32, 0, address_of(words + 2), 1, kWordEquals},
                         {WordOp::write_32, 0, address_of(words + 3), 6, 0}};
  ASSERT_EQ(driver.stream_word_ops(stream, 2, ops, 0), kSuccess);
  EXPECT_EQ(driver.stream_query(stream), kNotReady);
  EXPECT_EQ(words[1], 0u);
  __atomic_store_n(words, 6, __ATOMIC_RELEASE);
  while (__atomic_load_n(words + 1, __ATOMIC_ACQUIRE) != 8) cpu_pause();
  EXPECT_EQ(words[3], 0u);
  __atomic_store_n(words + 2, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(driver.stream_synchronize(stream), kSuccess);
  EXPECT_EQ(words[3], 6u);
  int plain = 0;
  EXPECT_EQ(driver.stream_write_32(stream, address_of(&plain), 1, 0), kInvalidValue) << "pageable";
  EXPECT_EQ(driver.stream_write_64(stream, address_of(words), 1, kWordWriteNoBarrier), kInvalidValue)
      << "the second version of the call has no such flag";
  driver.stream_destroy(stream);
  rig.fake.release(device);
}

TEST(FakeDriver, LateCopiesAreLateAndStreamsOvertakeEachOther) {
  FakeRig rig({.late_us = 500});
  const Driver& driver = rig.driver;
  auto* const order = reinterpret_cast<uint64_t*>(rig.fake.allocate(4096));
  const Stream first = rig.stream();
  const Stream second = rig.stream();
  bool overtaken = false;
  for (int turn = 0; turn < 200 && !overtaken; ++turn) {
    driver.stream_write_64(first, address_of(order), static_cast<uint64_t>(turn) + 1, 0);
    driver.stream_write_64(second, address_of(order + 1), static_cast<uint64_t>(turn) + 1, 0);
    while (driver.stream_query(second) == kNotReady) cpu_pause();
    overtaken = driver.stream_query(first) == kNotReady;
    driver.stream_synchronize(first);
  }
  EXPECT_TRUE(overtaken);
  driver.stream_destroy(first);
  driver.stream_destroy(second);
  rig.fake.release(reinterpret_cast<std::byte*>(order));
}

TEST(FakeDriver, TheDefaultStreamAndBlockingStreamsWaitForEachOther) {
  FakeRig rig({.late_us = 100});
  const Driver& driver = rig.driver;
  std::byte* const device = rig.fake.allocate(64);
  auto* const words = reinterpret_cast<uint64_t*>(device);
  const Stream blocking = rig.stream(0);
  const Stream free = rig.stream();
  ASSERT_EQ(driver.stream_wait_64(blocking, address_of(words), 1, kWordEquals), kSuccess);
  ASSERT_EQ(driver.stream_write_64(nullptr, address_of(words + 1), 2, 0), kSuccess);
  ASSERT_EQ(driver.stream_write_64(blocking, address_of(words + 2), 3, 0), kSuccess);
  ASSERT_EQ(driver.stream_write_64(free, address_of(words + 3), 4, 0), kSuccess);
  ASSERT_EQ(driver.stream_synchronize(free), kSuccess);
  EXPECT_EQ(words[3], 4u);
  EXPECT_EQ(words[1] + words[2], 0u) << "both wait for the first";
  __atomic_store_n(words, 1, __ATOMIC_RELEASE);
  ASSERT_EQ(driver.stream_synchronize(blocking), kSuccess);
  EXPECT_EQ(words[1], 2u);
  EXPECT_EQ(words[2], 3u);
  driver.stream_destroy(blocking);
  driver.stream_destroy(free);
  rig.fake.release(device);
}

TEST(FakeDriver, BatchesCopyInAnyOrder) {
  FakeRig rig;
  std::byte* const device = rig.fake.allocate(64);
  void* host = nullptr;
  ASSERT_EQ(rig.driver.host_alloc(&host, 64, 0), kSuccess);
  auto* const bytes = static_cast<std::byte*>(host);
  Address to[3] = {address_of(device), address_of(device + 8), address_of(device + 16)};
  Address from[3] = {address_of(bytes), address_of(bytes + 8), address_of(bytes + 16)};
  size_t nbytes[3] = {8, 8, 8};
  size_t first[1] = {0};
  CopyAttributes attributes;
  for (int i = 0; i < 24; ++i) bytes[i] = static_cast<std::byte>(i);
  const Stream stream = rig.stream();
  EXPECT_EQ(rig.driver.copy_batch_async(to, from, nbytes, 3, &attributes, first, 1, stream), kSuccess);
  EXPECT_EQ(rig.driver.stream_synchronize(stream), kSuccess);
  EXPECT_EQ(device[23], std::byte{23});
  EXPECT_EQ(rig.driver.copy_batch_async(to, from, nbytes, 3, &attributes, first, 1, nullptr), kInvalidHandle);
  rig.driver.stream_destroy(stream);
  rig.driver.host_free(host);
  rig.fake.release(device);
}

TEST(FakeDriver, KernelsAreThreadsWithTheParametersOfTheLaunch) {
  FakeRig rig;
  const Driver& driver = rig.driver;
  std::vector<int> seen;
  int counter = 0;
  FakeModule module;
  module.kernels["note"] = {
      {sizeof(int)}, [&](const FakeLaunch& launch) {
        seen.push_back(*static_cast<int*>(launch.parameters[0]) + static_cast<int>(launch.grid[0] * 100));
      }};
  module.globals["counter"] = {reinterpret_cast<std::byte*>(&counter), sizeof counter};
  const char image = 0;
  rig.fake.add_module(&image, module);
  Library library = nullptr;
  Kernel kernel = nullptr;
  Function function = nullptr;
  Address global = 0;
  size_t nbytes = 0;
  ASSERT_EQ(driver.library_load(&library, &image, nullptr, nullptr, 0, nullptr, nullptr, 0), kSuccess);
  ASSERT_EQ(driver.library_kernel(&kernel, library, "note"), kSuccess);
  ASSERT_EQ(driver.kernel_function(&function, kernel), kSuccess);
  EXPECT_EQ(driver.library_kernel(&kernel, library, "other"), kNotFound);
  EXPECT_EQ(driver.library_global(&global, &nbytes, library, "counter"), kSuccess);
  EXPECT_EQ(global, address_of(&counter));
  const Stream stream = rig.stream();
  for (int i = 0; i < 5; ++i) {
    void* parameters[] = {&i};
    ASSERT_EQ(driver.launch(function, static_cast<unsigned>(i + 1), 1, 1, 32, 1, 1, 0, stream, parameters, nullptr),
              kSuccess);
  }
  ASSERT_EQ(driver.stream_synchronize(stream), kSuccess);
  EXPECT_EQ(seen, (std::vector<int>{100, 201, 302, 403, 504}));
  driver.stream_destroy(stream);
  EXPECT_EQ(driver.library_unload(library), kSuccess);
  EXPECT_EQ(driver.module_load(nullptr, nullptr), 200) << "no image";
}

TEST(FakeDriver, ThreadsMayUseItAtOnce) {
  FakeRig rig({.late_us = 20});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const Driver& driver = rig.driver;
      driver.set_context(rig.context);
      for (int i = 0; i < 30; ++i) {
        void* pinned = nullptr;
        Stream stream = nullptr;
        if (driver.host_alloc(&pinned, 4096, 0) != kSuccess || driver.stream_create(&stream, 1, 0) != kSuccess) ++wrong;
        if (driver.fill_async(address_of(pinned), 7, 4096, stream) != kSuccess) ++wrong;
        if (driver.stream_synchronize(stream) != kSuccess) ++wrong;
        if (static_cast<std::byte*>(pinned)[4095] != std::byte{7}) ++wrong;
        if (driver.stream_destroy(stream) != kSuccess || driver.host_free(pinned) != kSuccess) ++wrong;
      }
      driver.set_context(nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace railshmem::cuda
