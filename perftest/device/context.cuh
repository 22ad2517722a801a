// SPDX-License-Identifier: BSD-3-Clause
// What a bench sees of the run: its part, its peer, memory, launches that end, and the way to a row.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "perftest/device/check.h"
#include "perftest/device/job.h"
#include "perftest/device/registry.h"
#include "perftest/device/report.h"
#include "perftest/device/timed.cuh"
#include "perftest/harness/progress.h"

namespace railshmem::perf::gpu {

/// Whether an error ends this process without cleaning up: other PEs may wait elsewhere, and a kernel may still run, so
/// calls that free memory would never return.
inline bool giving_up() {
  return std::uncaught_exceptions() > 0;
}

/// Symmetric GPU memory, zeroed. Construction and destruction are collective.
class Symmetric {
 public:
  explicit Symmetric(size_t nbytes);
  ~Symmetric() {
    if (!giving_up()) job::release(address_);
  }
  Symmetric(const Symmetric&) = delete;
  Symmetric& operator=(const Symmetric&) = delete;

  /// Zeroes this PE's copy.
  void clear() const;
  template <class T = char>
  T* as() const {
    return static_cast<T*>(address_);
  }

 private:
  size_t nbytes_;
  void* address_;
};

struct FreeGpu {
  void operator()(void* p) const {
    if (!giving_up()) cudaFree(p);
  }
};
template <class T>
using Gpu = std::unique_ptr<T, FreeGpu>;
/// This GPU's own memory, zeroed.
template <class T>
Gpu<T> allocate_gpu(size_t n) {
  void* at = nullptr;
  CUDA_CHECK(cudaMalloc(&at, n * sizeof(T)));
  Gpu<T> owner(static_cast<T*>(at));
  CUDA_CHECK(cudaMemset(at, 0, n * sizeof(T)));
  return owner;
}

struct FreePinned {
  void operator()(void* p) const {
    if (!giving_up()) cudaFreeHost(p);
  }
};
template <class T>
using Pinned = std::unique_ptr<T, FreePinned>;
/// Pinned memory of this host that the GPU reaches.
template <class T>
Pinned<T> allocate_pinned(size_t n) {
  void* at = nullptr;
  CUDA_CHECK(cudaHostAlloc(&at, n * sizeof(T), cudaHostAllocMapped | cudaHostAllocPortable));
  return Pinned<T>(static_cast<T*>(at));
}

struct DestroyStream {
  void operator()(cudaStream_t s) const {
    if (!giving_up()) cudaStreamDestroy(s);
  }
};
struct DestroyEvent {
  void operator()(cudaEvent_t e) const { cudaEventDestroy(e); }
};
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

class Context {
 public:
  explicit Context(const Options& options);

  const Options& options;
  const int pe;
  const int npes;
  const int target;              ///< whom PE 0 talks to
  const Bench* bench = nullptr;  ///< the current one, set by begin()
  Scope scope = Scope::thread;
  std::vector<uint64_t> sizes;
  Progress* progress = nullptr;  ///< told of each row; of PE 0 alone

  void begin(const Bench& next, Scope by);

  bool first() const { return pe == 0; }
  bool is_target() const { return pe == target; }
  int peer() const { return first() ? target : 0; }
  /// Whether this PE launches kernels of the current bench.
  bool acts() const;
  uint64_t largest() const;
  /// Null when the peer is not reached by load and store.
  template <class T>
  T* at_peer(T* symmetric) const {
    return static_cast<T*>(job::mapped(symmetric, peer()));
  }
  /// at_peer() for benches that need it; throws where the peer's memory is not mapped.
  void* need_at_peer(void* symmetric) const { return need_at(symmetric, peer()); }
  /// Where another PE's copy of a symmetric address is mapped here; throws where it is not.
  void* need_at(void* symmetric, int other) const;

  unsigned ctas(unsigned usual) const { return options.ctas.value_or(usual); }
  /// Threads of a block of kernels called by `scope` in a grid of one: as few as the scope has.
  unsigned scope_threads() const;
  unsigned threads(unsigned usual) const { return options.threads.value_or(usual); }

  cudaStream_t stream() const { return stream_.get(); }
  /// All blocks of a grid run at once; throws where they do not fit.
  template <class... P, class... A>
  void launch(void (*kernel)(P...), unsigned grid, unsigned block, A&&... arguments) {
    const Fitting asked{reinterpret_cast<const void*>(kernel), grid, block};
    if (!(asked == fitting_)) check_fits(asked);
    fitting_ = asked;
    kernel<<<grid, block, 0, stream()>>>(std::forward<A>(arguments)...);
    CUDA_CHECK(cudaGetLastError());
  }
  /// Waits for launched kernels. Throws where a kernel does not end, and then the process must end too.
  void finish();
  /// Waits for this PE's kernels, then for all PEs.
  void barrier();

  uint64_t limit_ns() const { return static_cast<uint64_t>(options.timeout * 1e9); }

  /// The row so far: who, how many, how. bytes and scope of the current call.
  Row row(const char* metric, const char* unit, uint64_t bytes, unsigned grid, unsigned block) const;
  /// Adds a row; only PE 0 keeps it.
  void add(Row row);
  const std::vector<Row>& rows() const { return rows_; }

  /// Fills GPU memory with the pattern of `sender`, and compares with it; a difference is told on standard error.
  void fill(char* gpu, uint64_t nbytes, int sender) const;
  bool matches(const char* gpu, uint64_t nbytes, int sender);
  /// Whether `mine` is true on every PE; collective.
  bool all(bool mine);
  /// all(), of data that came; false counts as wrong data of the run.
  bool agree(bool well);
  bool all_valid() const { return all_valid_; }

 private:
  struct Fitting {
    const void* kernel;
    unsigned grid;
    unsigned block;
    bool operator==(const Fitting&) const = default;
  };
  void check_fits(const Fitting& asked) const;

  Fitting fitting_{nullptr, 0,
                   0};  ///< the last one checked: the check takes longer than a launch and would be measured
  Stream stream_;
  Symmetric votes_;  ///< this PE's, and room for a copy of another's
  std::vector<Row> rows_;
  bool all_valid_ = true;
};

Stream make_stream();
Event make_event();

}  // namespace railshmem::perf::gpu
