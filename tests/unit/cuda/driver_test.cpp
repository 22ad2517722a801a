// SPDX-License-Identifier: BSD-3-Clause
// Which functions of the driver are there, and what is said where they are not.
#include "src/cuda/driver.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "src/base/error.h"
#include "src/cuda/check.h"
#include "tests/gpu/fake_driver/fake_driver.h"
#include "tests/support/run_again.h"

namespace railshmem::cuda {
namespace {

std::string need_error(const Driver& driver, Calls group, const char* otherwise) {
  try {
    need(driver, group, "a device heap", otherwise);
  } catch (const Error& e) {
    return e.what();
  }
  return "there";
}

TEST(CudaDriver, AnOldDriverIsToldByWhatItLacks) {
  const FakeDriver fake({.version = 10010});
  Driver old = fake.driver();
  EXPECT_TRUE(has(old, Calls::memory));
  EXPECT_EQ(need_error(old, Calls::memory, nullptr), "there");
  old.memory_create = nullptr;
  EXPECT_FALSE(has(old, Calls::memory));
  EXPECT_TRUE(has(old, Calls::copies));
  EXPECT_EQ(need_error(old, Calls::memory, "set SHMEM_HEAP_KIND to host"),
            "the CUDA driver here (10.1) is too old for a device heap: it lacks cuMemCreate, which came with 10.2; "
            "install a newer driver, or set SHMEM_HEAP_KIND to host");
}

TEST(CudaDriver, OfSeveralMissingFunctionsTheNewestIsNamed) {
  const FakeDriver fake({.version = 11060});
  Driver old = fake.driver();
  old.stream_wait_32 = nullptr;
  old.stream_write_64 = nullptr;
  old.stream_word_ops = nullptr;
  const std::string error = need_error(old, Calls::words, nullptr);
  EXPECT_NE(error.find("cuStreamBatchMemOp_v2, which came with 11.7; install a newer driver"), std::string::npos)
      << error;
}

TEST(CudaDriver, ResultsAreToldInTheDriversWords) {
  const FakeDriver fake;
  EXPECT_EQ(explain(fake.driver(), kOutOfMemory), "out of memory (2)");
  EXPECT_EQ(explain(fake.driver(), 4711), "an error unknown to the driver (4711)");
  EXPECT_NO_THROW(check(fake.driver(), kSuccess, "cuMemCreate"));
  try {
    check(fake.driver(), kIllegalAddress, "cuStreamQuery");
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "cuStreamQuery failed: an illegal memory access was encountered (700); an earlier kernel of this "
                 "process may be the cause: run the program under compute-sanitizer");
  }
  EXPECT_STREQ(hint(kContextIsDestroyed), "");
  EXPECT_STREQ(hint(kAlreadyRegistered), "");
}

/// Runs itself again, in a process that finds the fake library first. In this one it would stay loaded, and tests that
/// want a real driver would find it.
TEST(CudaDriver, IsLoadedByNameWithAllItsFunctions) {
  if (std::getenv("RAILSHMEM_FAKE_GPUS") == nullptr) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("RAILSHMEM_FAKE_GPUS", "3", 1);
      setenv("LD_LIBRARY_PATH", RAILSHMEM_FAKE_CUDA, 1);
      run_again("CudaDriver.IsLoadedByNameWithAllItsFunctions");
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return;
  }
  const std::optional<Driver> driver = load_driver();
  ASSERT_TRUE(driver);
  int count = 0;
  EXPECT_EQ(driver->device_count(&count), kSuccess);
  EXPECT_EQ(count, 3);
  for (const Calls group : {Calls::core, Calls::memory, Calls::copies, Calls::dma_buf, Calls::batches, Calls::words,
                            Calls::flush, Calls::launch, Calls::library})
    EXPECT_TRUE(has(*driver, group)) << static_cast<int>(group);
}

TEST(CudaDriver, VersionsAreSpelledAsPeopleDo) {
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(11070), "11.7");
  EXPECT_EQ(version_text(12080), "12.8");
}

}  // namespace
}  // namespace railshmem::cuda
