// SPDX-License-Identifier: BSD-3-Clause
// The driver's flush on a GPU of this machine.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

#include "src/cuda/rdma_flush.h"

namespace railshmem::cuda {
namespace {

/// The context that a program and the library share on device 0, as long as this object lives.
class PrimaryContext {
 public:
  PrimaryContext() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const auto retain =
        reinterpret_cast<Result (*)(Context*, Device)>(library ? dlsym(library, "cuDevicePrimaryCtxRetain") : nullptr);
    if (library) release_ = reinterpret_cast<Result (*)(Device)>(dlsym(library, "cuDevicePrimaryCtxRelease_v2"));
    if (!retain || retain(&context_, 0) != 0) context_ = nullptr;
  }
  ~PrimaryContext() {
    if (context_ && release_) release_(0);
  }
  PrimaryContext(const PrimaryContext&) = delete;
  Context get() const { return context_; }

 private:
  Context context_ = nullptr;
  Result (*release_)(Device) = nullptr;
};

TEST(CudaDevice, FlushesWhicheverThreadAsks) {
  const std::optional<Driver> driver = load_driver();
  if (!driver) GTEST_SKIP() << "this machine has no GPU, or no CUDA driver (libcuda.so.1)";
  const PrimaryContext context;
  ASSERT_NE(context.get(), nullptr);
  RdmaFlush flush(*driver, 0, context.get());
  const DeviceFlush& service = flush.service();
  std::printf("%s: %s, %s\n", service.device.c_str(),
              service.ordered ? "orders what NICs write by itself" : "needs flushes",
              service.available ? "flushes when the host asks" : "does not flush when the host asks");
  EXPECT_NE(service.device.find("NVIDIA"), std::string::npos);
  if (!service.available) GTEST_SKIP() << "this device does not flush when the host asks";
  constexpr int kTimes = 1000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) ASSERT_EQ(service.run(service.state), 0);
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  std::printf("a flush takes %.2f us\n", spent.count() / kTimes);
  int error = -1;
  std::thread([&] { error = service.run(service.state); }).join();
  EXPECT_EQ(error, 0) << service.explain(service.state, error);
  EXPECT_EQ(choose_flush(FlushMode::automatic, &service).policy,
            service.ordered ? FlushPolicy::none : FlushPolicy::cuda);
}

TEST(CudaDevice, ADeadContextIsAnErrorWithWords) {
  const std::optional<Driver> driver = load_driver();
  if (!driver) GTEST_SKIP() << "this machine has no GPU, or no CUDA driver (libcuda.so.1)";
  RdmaFlush flush(*driver, 0, nullptr);
  const int error = flush.service().run(flush.service().state);
  EXPECT_NE(error, 0);
  EXPECT_FALSE(flush.service().explain(flush.service().state, error).empty());
}

}  // namespace
}  // namespace railshmem::cuda
