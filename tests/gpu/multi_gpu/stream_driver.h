// SPDX-License-Identifier: BSD-3-Clause
// Streams and graphs by the CUDA driver that is there, a real one or the tests' fake, without its headers.
#pragma once

#include <dlfcn.h>
#include <shmemx.h>

#include <cstdio>

namespace railshmem::multi {

class StreamDriver {
 public:
  StreamDriver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
    call("cuStreamCreateWithPriority", &stream, 1u, 0);  // non-blocking
  }
  /// Whether streams can be captured here.
  bool graphs() const { return library_ != nullptr && dlsym(library_, "cuStreamBeginCapture_v2") != nullptr; }

  void synchronize() const { call("cuStreamSynchronize", stream); }
  /// What `give` puts into the stream, as a graph.
  template <class Give>
  void* capture(Give&& give) const {
    void *graph = nullptr, *ready = nullptr;
    call("cuStreamBeginCapture_v2", stream, 1);  // of this thread
    give();
    call("cuStreamEndCapture", stream, &graph);
    call("cuGraphInstantiateWithFlags", &ready, graph, 0ull);
    call("cuGraphDestroy", graph);
    return ready;
  }
  /// Host memory that kernels reach.
  void* pinned(size_t nbytes) const {
    void* memory = nullptr;
    call("cuMemHostAlloc", &memory, nbytes, 0u);
    return memory;
  }
  /// Copies to memory of the GPU. The data is there when it returns: cuMemcpy alone returns when it has read pageable
  /// memory, perhaps before it has written.
  void upload(void* to, const void* from, size_t nbytes) const {
    if (nbytes == 0) return;
    call("cuMemcpy", to, from, nbytes);
    call("cuStreamSynchronize", static_cast<void*>(nullptr));
  }
  void download(void* to, const void* from, size_t nbytes) const {
    if (nbytes > 0) call("cuMemcpy", to, from, nbytes);
  }
  /// In the order of the stream.
  void copy(void* to, const void* from, size_t nbytes) const { call("cuMemcpyAsync", to, from, nbytes, stream); }
  void launch(void* graph) const { call("cuGraphLaunch", graph, stream); }

  /// A function of the driver. Ends the job when it fails.
  template <class... Arguments>
  void call(const char* symbol, Arguments... arguments) const {
    void* const found = library_ == nullptr ? nullptr : dlsym(library_, symbol);
    const int result = found == nullptr ? -1 : reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
    if (result == 0) return;
    std::printf("FAILED: PE %d: %s gives %d\n", shmem_my_pe(), symbol, result);
    std::fflush(stdout);
    shmem_global_exit(2);
  }

  shmemx_stream_t stream = nullptr;

 private:
  void* const library_;
};

}  // namespace railshmem::multi
