// SPDX-License-Identifier: BSD-3-Clause
// A CUDA driver over host memory: "device" memory is memfds, copies are memcpy, kernels are threads. It is strict where
// the real one is, so that what runs on it has a chance there: no call without a current context, no copy to addresses
// that are not mapped, no piece of a mapping unmapped, nothing freed twice. Any number of threads; processes share
// memory through exported file descriptors as they do with the real one.
//
//     FakeDriver fake({.devices = 2});
//     ... code under test, with fake.driver() ...
//     EXPECT_EQ(fake.leaks(), "");
//
// The library libcuda.so.1 in the folder fake_cuda of the tests' build folder has the calls of this fake driver. A
// program that finds it first (LD_LIBRARY_PATH) runs on the GPUs that RAILSHMEM_FAKE_GPUS and its like describe
// (fake_driver/state.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/cuda/driver.h"

namespace railshmem::cuda {

struct FakeState;

struct FakeOptions {
  int devices = 1;
  /// Which GPU of the machine each device is, as CUDA_VISIBLE_DEVICES would have it. Empty: 0, 1, 2...
  std::vector<int> physical = {};
  size_t memory_nbytes = size_t{1} << 30;  ///< of each device
  /// 0: what streams are given happens at once. Else each piece happens up to so many microseconds late, and streams
  /// overtake each other.
  unsigned late_us = 0;
  uint64_t seed = 1;
  int version = 13000;
  /// The CPU cannot read or write device memory: code under test that tries ends by SIGSEGV, as with a GPU.
  bool guarded = false;
  /// The CPU can use memory of cudaMalloc and of pools too. Otherwise only virtual memory is open to threads that stand
  /// for kernels.
  bool open = false;
  bool captured = false;                ///< every stream is being captured, says cuStreamIsCapturing
  size_t open_blocks = ~size_t{0};      ///< of cudaMalloc of other processes, at once
  size_t user_objects = ~size_t{0};     ///< at once
  size_t kernels_at_once = ~size_t{0};  ///< that run at once; others wait for a place
  size_t queue = ~size_t{0};            ///< pieces of work of a stream; who gives operations on words waits for room
  unsigned notes_ms = 0;                ///< so late runs the destructor of a user object
  bool stream_words = true;             ///< streams execute batches of operations on words
  bool keeps_alignment = true;          ///< of reserved addresses, beyond the granularity
  std::map<Attribute, int> attributes = {};  ///< that differ from a GPU of today
  /// Pairs of GPUs of the machine, in both directions, that do not reach each other.
  std::vector<std::pair<int, int>> apart = {};
};

/// CUmemPoolProps, for cuMemPoolCreate.
struct PoolProperties {
  int type = kPinnedAllocation;
  int handle_types = kHandlePosixFd;
  Location location = {};
  void* windows_only = nullptr;
  size_t most_nbytes = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

struct FakeLaunch {
  unsigned grid[3];
  unsigned block[3];
  void** parameters;
};
/// Runs in a thread of its own, in the order of its stream.
struct FakeKernel {
  std::vector<size_t> parameter_nbytes;
  std::function<void(const FakeLaunch&)> body;
};
struct FakeModule {
  std::map<std::string, FakeKernel> kernels;
  std::map<std::string, std::span<std::byte>> globals;
};

/// One at a time in a process; after a fork, the child makes its own.
class FakeDriver {
 public:
  explicit FakeDriver(const FakeOptions& options = {});
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;

  /// Initialised. A test may copy it and set functions to null, as an older driver would have it.
  const Driver& driver() const noexcept { return table_; }

  /// The n-th call of this symbol from now on (1: the next) fails; with `lasting` all later calls fail, too.
  void fail(const char* symbol, int nth, Result result, bool lasting = false);
  /// Calls of this symbol so far.
  int calls(const char* symbol) const;
  /// Objects that were made and not given back, as "1 handle, 2 streams". Empty: none.
  std::string leaks() const;

  /// As cuCtxCreate: a context that is not the device's primary one.
  Context make_context(Device device);
  /// As cudaMalloc, of the program's.
  std::byte* allocate(size_t nbytes, Device device = 0);
  void release(std::byte* memory);
  /// For cuModuleLoadData and cuLibraryLoadData of this very address.
  void add_module(const void* image, FakeModule module);

  /// The copy engines stand still from now on, or go on.
  void hold(bool still);
  /// Acts as if a thread captured a graph in the global mode: calls that could block the capture fail, in threads whose
  /// mode is not relaxed, and break it.
  void capture(bool under_way);
  bool capture_broken() const;

 private:
  std::unique_ptr<FakeState> state_;
  Driver table_;
};

}  // namespace railshmem::cuda
