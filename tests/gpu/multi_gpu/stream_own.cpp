// SPDX-License-Identifier: BSD-3-Clause
// Calls whose target is the calling PE, of the host and on streams, on memory that is not symmetric: of the GPU and
// pinned. The fake driver's kernels are threads, which its device memory is closed to: there only copies go to it.
#include <shmem.h>
#include <shmemx.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::StreamDriver;

constexpr size_t kMost = 300000;  // elements: by copy engines; fewer by kernels

int me = 0, failures = 0;

void expect(bool holds, const char* what, const char* memory, size_t n) {
  if (holds) return;
  std::printf("FAILED: PE %d: %s, %s memory, %zu elements\n", me, what, memory, n);
  ++failures;
}

std::vector<int> pattern(size_t n, int round) {
  std::vector<int> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = me * 1009 + static_cast<int>(i % 977) + round * 31;
  return values;
}

/// Memory of this PE's own: kMost elements and three words.
struct Own {
  const char* name;
  int* array;
  uint64_t* words;
};

void by_host(const Own& own) {
  for (const size_t n : {size_t{1}, size_t{2}, size_t{1000}, kMost}) {
    const std::vector<int> right = pattern(n, 1);
    std::vector<int> seen(n);
    shmem_int_put(own.array, right.data(), n, me);
    shmem_int_get_nbi(seen.data(), own.array, n, me);
    shmem_quiet();
    expect(seen == right, "put and get by the host", own.name, n);
  }
  shmem_int_p(own.array + 5, 77, me);
  expect(shmem_int_g(own.array + 5, me) == 77, "p and g by the host", own.name, 1);
  const std::vector<int> three = {1, 2, 3};
  std::vector<int> seen(3);
  shmem_int_iput(own.array, three.data(), 2, 1, 3, me);
  shmem_int_iget(seen.data(), own.array, 1, 2, 3, me);
  expect(seen == three, "iput and iget by the host", own.name, 3);
  shmem_uint64_atomic_set(own.words, 10, me);
  shmem_uint64_atomic_add(own.words, 5, me);
  expect(shmem_uint64_atomic_fetch_inc(own.words, me) == 15, "fetch_inc by the host", own.name, 1);
  expect(shmem_uint64_atomic_compare_swap(own.words, 16, 3, me) == 16, "compare_swap by the host", own.name, 1);
  shmem_int_put_signal(own.array, three.data(), 3, own.words, 4, SHMEM_SIGNAL_ADD, me);
  expect(shmem_signal_wait_until(own.words, SHMEM_CMP_EQ, 7) == 7, "put_signal by the host", own.name, 3);
  shmem_signal_set(own.words, 9, me);
  expect(shmem_signal_fetch(own.words) == 9, "signal_set by the host", own.name, 1);
}

void copies_on_stream(const Own& own, int* symmetric, const StreamDriver& driver) {
  for (const size_t n : {size_t{7}, size_t{4000}, kMost}) {
    const std::vector<int> right = pattern(n, 2);
    std::vector<int> seen(n);
    shmem_int_put(symmetric, right.data(), n, me);
    shmemx_int_put_on_stream(own.array, symmetric, n, me, driver.stream);
    shmemx_int_get_on_stream(seen.data(), own.array, n, me, driver.stream);
    expect(shmemx_int_g_on_stream(own.array + n - 1, me, driver.stream) == right[n - 1], "g on a stream", own.name, n);
    driver.synchronize();
    expect(seen == right, "put and get on a stream", own.name, n);
  }
}

void kernels_on_stream(const Own& own, int* symmetric, const StreamDriver& driver) {
  int round = 3;
  for (const size_t n : {size_t{1}, size_t{100}, size_t{4000}, kMost}) {
    const std::vector<int> right = pattern(n, ++round);
    std::vector<int> seen(n);
    shmem_int_put(symmetric, right.data(), n, me);
    shmem_uint64_atomic_set(own.words, 0, me);
    shmemx_int_put_signal_on_stream(own.array, symmetric, n, own.words, 6, SHMEM_SIGNAL_SET, me, driver.stream);
    shmemx_signal_op_on_stream(own.words, 1, SHMEM_SIGNAL_ADD, me, driver.stream);
    shmemx_uint64_p_on_stream(own.words + 1, 12, me, driver.stream);
    driver.synchronize();
    shmem_int_get(seen.data(), own.array, n, me);
    expect(seen == right, "put_signal on a stream", own.name, n);
    expect(shmem_signal_fetch(own.words) == 7, "the signal", own.name, n);
    expect(shmem_uint64_g(own.words + 1, me) == 12, "p on a stream", own.name, n);
  }
  const std::vector<int> three = {1, 2, 3};
  std::vector<int> seen(3);
  shmem_int_put(symmetric, three.data(), 3, me);
  shmemx_int_iput_on_stream(own.array, symmetric, 2, 1, 3, me, driver.stream);
  shmemx_int_iget_on_stream(symmetric + 10, own.array, 3, 2, 3, me, driver.stream);
  driver.synchronize();
  shmem_int_iget(seen.data(), symmetric + 10, 1, 3, 3, me);
  expect(seen == three, "iput and iget on a stream", own.name, 3);
}

}  // namespace

int main() {
  shmem_init();
  me = shmem_my_pe();
  if (shmemx_attach_device() != 0) shmem_global_exit(2);
  {
    const StreamDriver driver;
    auto* const symmetric = static_cast<int*>(shmem_calloc(kMost, sizeof(int)));
    const size_t nbytes = kMost * sizeof(int);
    unsigned long long on_gpu = 0, words = 0;
    driver.call("cuMemAlloc_v2", &on_gpu, nbytes);
    driver.call("cuMemAlloc_v2", &words, size_t{64});
    const Own gpu{"GPU", reinterpret_cast<int*>(on_gpu), reinterpret_cast<uint64_t*>(words)};
    const Own pinned{"pinned", static_cast<int*>(driver.pinned(nbytes)), static_cast<uint64_t*>(driver.pinned(64))};
    const bool fake = std::getenv("RAILSHMEM_FAKE_GPUS") != nullptr;
    for (const Own& own : {gpu, pinned}) {
      const bool closed = fake && own.array == gpu.array;
      if (!closed) by_host(own);
      copies_on_stream(own, symmetric, driver);
      if (!closed) kernels_on_stream(own, symmetric, driver);
    }
    driver.call("cuMemFree_v2", on_gpu);
    driver.call("cuMemFree_v2", words);
    shmem_free(symmetric);
  }
  if (me == 0)
    std::printf("%s stream-ordered calls to oneself, %d PEs\n", failures == 0 ? "ok    " : "FAILED", shmem_n_pes());
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
