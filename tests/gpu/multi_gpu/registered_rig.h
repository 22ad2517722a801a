// SPDX-License-Identifier: BSD-3-Clause
// What registered_buffers needs of a PE: its memory, its stream, and how it talks with the other PEs.
#pragma once

#include <dlfcn.h>
#include <shmemx.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "src/api/job.h"
#include "src/base/cpu.h"
#include "src/base/error.h"
#include "tests/gpu/multi_gpu/stream_driver.h"
#include "tests/support/program_memory.h"

namespace railshmem::multi {

using PatternBytes = std::vector<unsigned char>;

/// Whether a process of this host is stopped by a signal.
inline bool is_stopped(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] == 'T';
}

/// Made and destroyed by all PEs together.
class Rig {
 public:
  Rig()
      : buffers(job::world("registered_buffers").gpu()->peer_buffers()),
        everybody(static_cast<size_t>(npes)),
        driver(*cuda::load_driver()),
        calls(test::ProgramCalls::by_name(
            [](const char* symbol) { return dlsym(dlopen("libcuda.so.1", RTLD_NOW), symbol); })),
        symmetric(shmem_calloc(1, 4096)),
        words_(static_cast<uint64_t*>(shmemx_malloc_host(static_cast<size_t>(npes) * 8))) {
    std::iota(everybody.begin(), everybody.end(), 0);
  }
  ~Rig() {
    shmem_free(words_);
    shmem_free(symmetric);
  }
  Rig(const Rig&) = delete;

  [[gnu::format(printf, 2, 3)]] void step(const char* format, ...) {
    char words[200];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    step_ = words;
  }
  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) const {
    if (me != 0) return;
    std::printf("registered_buffers: ");
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::printf("\n");
  }
  void expect(bool holds, const char* what) {
    if (holds) return;
    std::printf("FAILED: PE %d: %s: not true that: %s\n", me, step_.c_str(), what);
    std::fflush(stdout);
    ++failures;
  }
  /// find() for a test that goes on where a peer does not answer.
  PeerView found(std::span<const int> pes, const void* address, size_t nbytes) {
    try {
      return buffers.find(pes, address, nbytes);
    } catch (const Error& error) {
      expect(false, error.what());
      return {};
    }
  }
  /// A peer puts its answer off while it closes what others have freed.
  PeerView find(std::span<const int> pes, const void* address, size_t nbytes) {
    PeerView view;
    comes_true([&] { return (view = found(pes, address, nbytes)).where != PeerView::Where::nowhere; });
    return view;
  }
  std::string error_of_find(const void* address, size_t nbytes) {
    try {
      buffers.find(everybody, address, nbytes);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  template <class Reached>
  bool comes_true(const Reached& reached) const {
    for (const uint64_t end = now_ns() + 20'000'000'000; now_ns() < end; sched_yield())
      if (reached()) return true;
    return false;
  }
  template <class Body>
  double timed_ms(const Body& body) const {
    const uint64_t began = now_ns();
    body();
    return static_cast<double>(now_ns() - began) * 1e-6;
  }
  void barrier() const { shmem_barrier_all(); }
  /// Has every PE close what its peers have freed, so that the next blocks may lie where those lay.
  void settle() {
    barrier();
    close_freed();
    barrier();
  }
  void close_freed() { expect(shmemx_mem_free(shmemx_mem_alloc(64)) == 0, "a call that may wait for the GPU"); }

  test::ProgramMemory memory(test::Allocator kind, size_t nbytes) const { return {driver, calls, kind, nbytes}; }
  PatternBytes pattern(int pe, size_t nbytes) const {
    PatternBytes bytes(nbytes);
    for (size_t i = 0; i < nbytes; ++i)
      bytes[i] = static_cast<unsigned char>(static_cast<size_t>(pe) * 53 + i * 7 + (i >> 8));
    return bytes;
  }
  void write(void* to, const PatternBytes& bytes) const { streams.upload(to, bytes.data(), bytes.size()); }
  PatternBytes read(const void* from, size_t nbytes) const {
    PatternBytes bytes(nbytes);
    streams.download(bytes.data(), from, nbytes);
    return bytes;
  }

  /// Tells a PE at which address it sees this PE's range, and returns the address at which this PE sees its range. PEs
  /// call it in one order of pairs: all PEs for PE 0, 1, ...
  std::byte* tell_and_hear(const PeerView& view, int pe) const {
    shmem_uint64_p(words_ + me, view.at_peer[pe], pe);
    return heard_from(pe);
  }
  /// Tells the PE before, and hears from the next one.
  std::byte* tell_ring(const PeerView& view, int before, int next) const {
    shmem_uint64_p(words_ + me, view.at_peer[before], before);
    return heard_from(next);
  }
  /// One number of each PE, by PE.
  std::vector<uint64_t> all_gather(uint64_t mine) const {
    for (int pe = 0; pe < npes; ++pe) shmem_uint64_p(words_ + me, mine, pe);
    barrier();
    std::vector<uint64_t> all(words_, words_ + npes);
    barrier();
    std::memset(words_, 0, all.size() * sizeof all[0]);
    barrier();
    return all;
  }
  /// Whether kernels of this node reach the memory of a PE.
  bool kernels_reach(int pe) const { return shmem_ptr(symmetric, pe) != nullptr; }
  cuda::Stream stream() const { return reinterpret_cast<cuda::Stream>(streams.stream); }

  const int me = shmem_my_pe(), npes = shmem_n_pes();
  PeerBuffers& buffers;
  std::vector<int> everybody;
  const cuda::Driver driver;
  const test::ProgramCalls calls;
  const StreamDriver streams;
  void* const symmetric;
  int failures = 0;

 private:
  std::byte* heard_from(int pe) const {
    uint64_t* const word = words_ + pe;
    shmem_uint64_wait_until(word, SHMEM_CMP_NE, 0);
    const uint64_t address = __atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE);
    return reinterpret_cast<std::byte*>(address);
  }

  std::string step_;
  uint64_t* const words_;
};

}  // namespace railshmem::multi
