// SPDX-License-Identifier: BSD-3-Clause
// Devices, contexts and which of them a thread works in.
#include "src/cuda/device.h"

#include <gtest/gtest.h>

#include <thread>

#include "src/base/error.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/rdma_flush.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem::cuda {
namespace {

Context current_of(const FakeDriver& fake) {
  Context found = nullptr;
  EXPECT_EQ(fake.driver().get_context(&found), kSuccess);
  return found;
}

TEST(CudaContext, PrimaryIsHeldAndGivenBack) {
  FakeDriver fake({.devices = 2});
  {
    const DeviceContext gpu = DeviceContext::primary(fake.driver(), 1);
    EXPECT_EQ(gpu.device(), 1);
    EXPECT_EQ(gpu.description(), "GPU 1 (Fake GPU, 0000:19:00.0)");
    EXPECT_EQ(gpu.pci(), "0000:19:00.0");
    EXPECT_EQ(fake.leaks(), "1 retained context");
    EXPECT_EQ(current_of(fake), nullptr) << "primary() makes nothing current";
  }
  EXPECT_EQ(fake.leaks(), "");
}

TEST(CudaContext, WhatTheProgramChoseIsTaken) {
  FakeDriver fake({.devices = 2});
  const Driver& driver = fake.driver();
  EXPECT_FALSE(DeviceContext::is_current(driver));
  try {
    DeviceContext::current(driver);
    FAIL() << "there is no context";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cudaSetDevice"), std::string::npos) << e.what();
  }
  Context primary = nullptr;
  ASSERT_EQ(driver.primary_retain(&primary, 1), kSuccess);
  ASSERT_EQ(driver.set_context(primary), kSuccess);
  EXPECT_TRUE(DeviceContext::is_current(driver));
  {
    const DeviceContext gpu = DeviceContext::current(driver);
    EXPECT_EQ(gpu.device(), 1);
    EXPECT_EQ(gpu.context(), primary);
    ASSERT_EQ(driver.primary_release(1), kSuccess);  // the program's own; ours keeps it alive
    EXPECT_EQ(fake.leaks(), "1 retained context, 1 context of this thread");
  }
  driver.set_context(nullptr);
  EXPECT_EQ(fake.leaks(), "");
}

TEST(CudaContext, AContextOfTheProgramsOwnIsNotThePrimaryOne) {
  FakeDriver fake;
  const Driver& driver = fake.driver();
  const Context own = fake.make_context(0);
  ASSERT_EQ(driver.set_context(own), kSuccess);
  {
    const DeviceContext gpu = DeviceContext::current(driver);
    EXPECT_EQ(gpu.context(), own);
    EXPECT_EQ(fake.calls("cuDevicePrimaryCtxRetain"), 0) << "the primary one sleeps, and is not woken";
  }
  Context primary = nullptr;
  ASSERT_EQ(driver.primary_retain(&primary, 0), kSuccess);
  {
    const DeviceContext gpu = DeviceContext::current(driver);
    EXPECT_EQ(gpu.context(), own);
    EXPECT_EQ(fake.leaks(), "1 retained context, 1 context of this thread") << "ours is not the one that is retained";
  }
  ASSERT_EQ(driver.primary_release(0), kSuccess);
  driver.set_context(nullptr);
  EXPECT_EQ(fake.leaks(), "");
}

TEST(CudaContext, CapabilitiesAreTheDevices) {
  FakeDriver fake({.attributes = {{Attribute::handle_type_fabric, 1}, {Attribute::dma_buf, 0}}});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  const DeviceCapabilities& can = gpu.capabilities();
  EXPECT_TRUE(can.virtual_memory && can.posix_fds && can.fabric_handles && can.rdma_of_virtual_memory);
  EXPECT_TRUE(can.flushes_remote_writes && can.words_of_64_bits);
  EXPECT_FALSE(can.dma_bufs || can.host_atomics);
  EXPECT_EQ(can.compute_capability, 90);
  EXPECT_EQ(can.multiprocessors, 132);
  EXPECT_EQ(can.granularity, size_t{2} << 20);
  EXPECT_EQ(can.host_numa_node, -1);
}

TEST(CudaContext, AnOldDriversDeviceHasNoVirtualMemory) {
  FakeDriver fake;
  Driver old = fake.driver();
  old.memory_map = nullptr;
  old.range_handle = nullptr;
  old.stream_write_64 = nullptr;
  const DeviceContext gpu = DeviceContext::primary(old, 0);
  EXPECT_FALSE(gpu.capabilities().virtual_memory || gpu.capabilities().dma_bufs || gpu.capabilities().words_of_64_bits);
  EXPECT_EQ(gpu.capabilities().granularity, 0u);
}

TEST(CudaContext, FailuresNameTheDeviceAndLeaveNothingBehind) {
  FakeDriver fake;
  fake.fail("cuDeviceGetUuid_v2", 1, kNotSupported);
  EXPECT_THROW(DeviceContext::primary(fake.driver(), 0), Error);
  EXPECT_EQ(fake.leaks(), "");
  fake.fail("cuDevicePrimaryCtxRetain", 1, kOutOfMemory);
  try {
    DeviceContext::primary(fake.driver(), 0);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "GPU 0 cannot be used: out of memory (2)");
  }
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  try {
    gpu.check(kNotPermitted, "cuMemCreate");
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "cuMemCreate on GPU 0 (Fake GPU, 0000:18:00.0) failed: operation not permitted (800)");
  }
}

TEST(CudaContext, DevicesAreFoundByWhatTheyAre) {
  FakeDriver fake({.devices = 2, .physical = {3, 5}, .apart = {{3, 5}}});
  const Driver& driver = fake.driver();
  const std::vector<LocalDevice> devices = local_devices(driver);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(find_device(devices, devices[1].uuid), 1);
  EXPECT_EQ(find_device(devices, Uuid{}), std::nullopt);
  EXPECT_FALSE(can_reach(driver, 0, 1));
  EXPECT_TRUE(can_reach(driver, 1, 1));
  EXPECT_FALSE(has_native_atomics(driver, 0, 1));
  EXPECT_TRUE(has_native_atomics(driver, 0, 0));
}

TEST(ContextGuard, AThreadGetsItsOwnContextBack) {
  FakeDriver fake({.devices = 2});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  const DeviceContext other = DeviceContext::primary(fake.driver(), 1);
  {
    const ContextGuard guard(gpu);
    EXPECT_EQ(current_of(fake), gpu.context());
  }
  EXPECT_EQ(current_of(fake), nullptr);
  ASSERT_EQ(fake.driver().set_context(other.context()), kSuccess);
  {
    const ContextGuard outer(gpu);
    const ContextGuard inner(gpu);
    EXPECT_EQ(current_of(fake), gpu.context());
    EXPECT_EQ(fake.calls("cuCtxPushCurrent_v2"), 2) << "one for each context that was not there";
  }
  EXPECT_EQ(current_of(fake), other.context());
  fake.driver().set_context(nullptr);
}

TEST(ContextGuard, TheRightContextIsNotPushedAgain) {
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  ASSERT_EQ(fake.driver().set_context(gpu.context()), kSuccess);
  { const ContextGuard guard(gpu); }
  EXPECT_EQ(fake.calls("cuCtxPushCurrent_v2"), 0);
  EXPECT_EQ(current_of(fake), gpu.context());
  fake.driver().set_context(nullptr);
}

TEST(ContextGuard, AnAdoptedThreadAsksTheDriverNoMore) {
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  std::thread([&] {
    adopt_thread(gpu);
    const int before = fake.calls("cuCtxGetCurrent") + fake.calls("cuThreadExchangeStreamCaptureMode");
    for (int i = 0; i < 10; ++i) const ContextGuard guard(gpu);
    EXPECT_EQ(fake.calls("cuCtxGetCurrent") + fake.calls("cuThreadExchangeStreamCaptureMode"), before);
    EXPECT_EQ(current_of(fake), gpu.context());
  }).join();
}

TEST(ContextGuard, WorksWhileAGraphIsCaptured) {
  FakeDriver fake;
  const Driver& driver = fake.driver();
  const DeviceContext gpu = DeviceContext::primary(driver, 0);
  fake.capture(true);
  void* memory = nullptr;
  {
    const ContextGuard guard(gpu);
    ASSERT_EQ(driver.host_alloc(&memory, 64, 0), kSuccess);
    ASSERT_EQ(driver.host_free(memory), kSuccess);
  }
  EXPECT_FALSE(fake.capture_broken());
  ASSERT_EQ(driver.set_context(gpu.context()), kSuccess);
  EXPECT_EQ(driver.host_alloc(&memory, 64, 0), kCaptureUnsupported) << "the thread's mode is its own again";
  EXPECT_TRUE(fake.capture_broken());
  driver.set_context(nullptr);
}

TEST(ContextGuardDeathTest, ALostContextEndsTheJobWithTheDriversWords) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // the fake has a thread, which may hold its lock
  FakeDriver fake;
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  fake.fail("cuCtxPushCurrent_v2", 1, kContextIsDestroyed, true);
  EXPECT_EXIT({ const ContextGuard guard(gpu); }, ::testing::ExitedWithCode(1),
              "cuCtxPushCurrent on GPU 0 .Fake GPU.* failed");
}

TEST(RdmaFlush, FlushesInTheContextOfTheHeap) {
  FakeDriver fake({.attributes = {{Attribute::writes_ordering, 0}}});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  RdmaFlush flush(fake.driver(), 0, gpu.context());
  const DeviceFlush& service = flush.service();
  EXPECT_EQ(service.device, "GPU 0 (Fake GPU)");
  EXPECT_TRUE(service.available);
  EXPECT_FALSE(service.ordered);
  EXPECT_EQ(service.run(service.state), kSuccess);
  EXPECT_EQ(fake.calls("cuFlushGPUDirectRDMAWrites"), 1);
  fake.fail("cuFlushGPUDirectRDMAWrites", 1, kNotSupported);
  EXPECT_EQ(service.explain(service.state, service.run(service.state)), "operation not supported (801)");
  EXPECT_EQ(fake.leaks(), "1 retained context");
}

}  // namespace
}  // namespace railshmem::cuda
