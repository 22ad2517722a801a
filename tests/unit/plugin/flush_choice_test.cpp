// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>

#include "src/base/error.h"
#include "src/cuda/rdma_flush.h"
#include "src/plugin/flush.h"

namespace railshmem::test {
namespace {

DeviceFlush device(bool ordered, bool available) {
  DeviceFlush device;
  device.device = "GPU 3";
  device.ordered = ordered;
  device.available = available;
  return device;
}

TEST(FlushChoice, HostHeapNeedsNone) {
  EXPECT_EQ(choose_flush(FlushMode::automatic, nullptr).policy, FlushPolicy::none);
  EXPECT_EQ(describe(choose_flush(FlushMode::automatic, nullptr)),
            "flush none: rails write host memory only, which shows what a completed write brought\n");
  EXPECT_EQ(choose_flush(FlushMode::read, nullptr).policy, FlushPolicy::read);
  EXPECT_EQ(choose_flush(FlushMode::write_read, nullptr).policy, FlushPolicy::write_read);
  EXPECT_EQ(choose_flush(FlushMode::none, nullptr).policy, FlushPolicy::none);
}

TEST(FlushChoice, DeviceDecides) {
  const DeviceFlush ordered = device(true, true);
  const DeviceFlush flushes = device(false, true);
  const DeviceFlush neither = device(false, false);
  EXPECT_EQ(choose_flush(FlushMode::automatic, &ordered).policy, FlushPolicy::none);
  EXPECT_EQ(choose_flush(FlushMode::automatic, &flushes).policy, FlushPolicy::cuda);
  EXPECT_EQ(choose_flush(FlushMode::automatic, &neither).policy, FlushPolicy::read);
  EXPECT_EQ(choose_flush(FlushMode::cuda, &ordered).policy, FlushPolicy::none) << "skipped: nothing to do";
  EXPECT_EQ(choose_flush(FlushMode::cuda, &flushes).policy, FlushPolicy::cuda);
  EXPECT_EQ(choose_flush(FlushMode::read, &ordered).policy, FlushPolicy::read) << "who asks gets it";
  EXPECT_EQ(choose_flush(FlushMode::automatic, &flushes).reason, "the driver of GPU 3 flushes");
}

std::string refusal(const DeviceFlush* device) {
  try {
    choose_flush(FlushMode::cuda, device);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FlushChoice, CudaThatCannotBeHadIsAnError) {
  EXPECT_NE(refusal(nullptr).find("SHMEM_FLUSH is cuda, but rails write host memory only"), std::string::npos);
  EXPECT_NE(refusal(nullptr).find("unset SHMEM_FLUSH"), std::string::npos);
  const DeviceFlush neither = device(false, false);
  EXPECT_NE(refusal(&neither).find("the driver of GPU 3 does not flush"), std::string::npos);
}

// ---- the driver, played by the test --------------------------------------------------------------------------------

struct Played {
  int ordering = 0;
  int options = 1;
  int attribute_result = 0;
  int push_result = 0;
  int flush_result = 0;
  std::string calls;
  cuda::Context pushed = nullptr;
} played;

cuda::Driver driver() {
  played = {};
  cuda::Driver driver;
  driver.device_attribute = [](int* value, cuda::Attribute which, cuda::Device device) {
    EXPECT_EQ(device, 3);
    *value = which == cuda::Attribute::writes_ordering ? played.ordering : played.options;
    return played.attribute_result;
  };
  driver.device_name = [](char* name, int, cuda::Device) {
    std::strcpy(name, "NVIDIA H100");
    return 0;
  };
  driver.push_context = [](cuda::Context context) {
    played.calls += "push ";
    played.pushed = context;
    return played.push_result;
  };
  driver.pop_context = [](cuda::Context* context) {
    played.calls += "pop ";
    *context = played.pushed;
    return 0;
  };
  driver.error_string = [](cuda::Result result, const char** words) {
    *words = "no such thing";
    return result == 999 ? 1 : 0;
  };
  driver.flush_rdma_writes = [](int target, int scope) {
    EXPECT_EQ(target, 0);
    EXPECT_EQ(scope, 100) << "to the owner";
    played.calls += "flush ";
    return played.flush_result;
  };
  return driver;
}

TEST(RdmaFlush, ReadsWhatTheDeviceOffers) {
  const cuda::Driver table = driver();
  EXPECT_EQ(cuda::RdmaFlush(table, 3, nullptr).service().device, "GPU 3 (NVIDIA H100)");
  EXPECT_FALSE(cuda::RdmaFlush(table, 3, nullptr).service().ordered);
  EXPECT_TRUE(cuda::RdmaFlush(table, 3, nullptr).service().available);
  for (const int ordering : {100, 200}) {
    played.ordering = ordering;
    EXPECT_TRUE(cuda::RdmaFlush(table, 3, nullptr).service().ordered);
  }
  played.options = 2;  // stream operations only
  EXPECT_FALSE(cuda::RdmaFlush(table, 3, nullptr).service().available);
  cuda::Driver old = table;
  old.flush_rdma_writes = nullptr;
  played.options = 1;
  EXPECT_FALSE(cuda::RdmaFlush(old, 3, nullptr).service().available) << "the driver has no such function";
}

TEST(RdmaFlush, BindsTheHeapsContextAndGivesTheThreadItsOwnBack) {
  int something = 0;
  const auto heap_context = reinterpret_cast<cuda::Context>(&something);
  cuda::RdmaFlush flush(driver(), 3, heap_context);
  const DeviceFlush& service = flush.service();
  EXPECT_EQ(service.run(service.state), 0);
  EXPECT_EQ(played.calls, "push flush pop ");
  EXPECT_EQ(played.pushed, heap_context);
}

TEST(RdmaFlush, ErrorsAreToldAndTheContextIsGivenBack) {
  cuda::RdmaFlush flush(driver(), 3, nullptr);
  const DeviceFlush& service = flush.service();
  played.flush_result = 700;
  EXPECT_EQ(service.run(service.state), 700);
  EXPECT_EQ(played.calls, "push flush pop ");
  EXPECT_EQ(service.explain(service.state, 700), "no such thing (700)");
  EXPECT_EQ(service.explain(service.state, 999), "an error unknown to the driver (999)");
  played.calls.clear();
  played.push_result = 201;
  EXPECT_EQ(service.run(service.state), 201);
  EXPECT_EQ(played.calls, "push ") << "without the context nothing is flushed";
}

TEST(RdmaFlush, DeviceThatDoesNotTellIsAnError) {
  const cuda::Driver table = driver();
  played.attribute_result = 101;
  EXPECT_THROW(cuda::RdmaFlush(table, 3, nullptr), Error);
}

TEST(CudaDriver, IsWholeOrAbsent) {
  const auto loaded = cuda::load_driver();
  if (!loaded) GTEST_SKIP() << "no CUDA driver on this machine";
  EXPECT_NE(loaded->device_attribute, nullptr);
  EXPECT_NE(loaded->push_context, nullptr);
}

}  // namespace
}  // namespace railshmem::test
