// SPDX-License-Identifier: BSD-3-Clause
// Streams: those of the fake driver, so that the library's calls in the order of a stream and the program's kernels
// have one order, also in a graph. To the driver a kernel is a function of the host.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <utility>

namespace railshmem::emulated_cuda {

/// Calls a function of the driver; returns what it returns.
template <class... Arguments>
int driver(const char* symbol, Arguments... arguments) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library == nullptr ? nullptr : dlsym(library, symbol);
  if (found == nullptr) {
    std::fprintf(stderr, "emulated CUDA: no %s; put the folder fake_cuda into LD_LIBRARY_PATH\n", symbol);
    std::abort();
  }
  return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
}

/// Makes the primary context of a device current.
inline int set_device(int device) {
  void* context = nullptr;
  driver("cuInit", 0U);
  const int result = driver("cuDevicePrimaryCtxRetain", &context, device);
  return result != 0 ? result : driver("cuCtxSetCurrent", context);
}
/// The CUDA runtime begins with device 0 where the program has chosen none.
inline void need_context() {
  void* context = nullptr;
  driver("cuInit", 0U);
  driver("cuCtxGetCurrent", &context);
  if (context == nullptr) set_device(0);
}

/// Runs `work` after what the stream has already; null is the default stream. A graph runs it at each launch, so all
/// work is kept until the program ends. For one thread, as the programs here use it.
inline void enqueue(CUstream_st* stream, std::function<void()> work) {
  static auto* const kept = new std::deque<std::function<void()>>;
  kept->push_back(std::move(work));
  need_context();
  void (*const run)(void*) = [](void* one) { (*static_cast<std::function<void()>*>(one))(); };
  const int result = driver("cuLaunchHostFunc", stream, run, static_cast<void*>(&kept->back()));
  if (result == 0) return;
  std::fprintf(stderr, "emulated CUDA: a launch fails with %d\n", result);
  std::abort();
}

inline int synchronize(CUstream_st* stream) {
  need_context();
  return driver("cuStreamSynchronize", stream);
}

}  // namespace railshmem::emulated_cuda
