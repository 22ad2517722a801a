// SPDX-License-Identifier: BSD-3-Clause
// Kernels as host threads: what include/shmem/detail/threads.h asks for, and a launch. For programs that are compiled
// with RAILSHMEM_EMULATION throughout.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "include/shmem/detail/world.h"

#if !defined(RAILSHMEM_EMULATION)
#error "compile the whole program with RAILSHMEM_EMULATION"
#endif

namespace railshmem::emulation {

/// Waits here end after this long: a kernel whose threads miss each other is a failed test, not a hung one.
inline constexpr uint64_t kDeadlineNs = 120'000'000'000;

/// All of a group's threads meet; writes before the meeting are visible to all after it.
class Meeting {
 public:
  explicit Meeting(uint32_t size) : size_(size) {}

  void wait(const char* what) {
    const uint64_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    const uint64_t end = portable::clock_ns() + kDeadlineNs;
    for (uint32_t turn = 0; round_.load(std::memory_order_acquire) == round; ++turn) {
      portable::relax(255);
      if (turn % 1024 == 1023 && portable::clock_ns() > end) {
        std::fprintf(stderr, "emulation: threads of a kernel miss each other at %s\n", what);
        std::abort();
      }
    }
  }

 private:
  const uint32_t size_;
  std::atomic<uint32_t> arrived_{0};
  std::atomic<uint64_t> round_{0};
};

/// Threads of one block, and how they meet.
struct Block {
  Block(uint32_t block_index, uint32_t nthreads) : index(block_index), size(nthreads), all(nthreads) {
    for (uint32_t first = 0; first < nthreads; first += 32) {
      warps.push_back(std::make_unique<Meeting>(nthreads - first < 32 ? nthreads - first : 32));
    }
  }
  const uint32_t index, size;
  Meeting all;
  std::vector<std::unique_ptr<Meeting>> warps;
};

struct Thread {
  const WorldView* world = nullptr;
  Block* block = nullptr;
  uint32_t rank = 0;
};

inline thread_local Thread this_thread;

inline uint32_t thread_in_block() {
  return this_thread.rank;
}
inline uint32_t threads_in_block() {
  return this_thread.block->size;
}
inline uint32_t block_in_grid() {
  return this_thread.block->index;
}
inline void sync_block() {
  this_thread.block->all.wait("__syncthreads");
}
inline void sync_warp() {
  this_thread.block->warps[this_thread.rank / 32]->wait("__syncwarp");
}
inline const WorldView& world() {
  return *this_thread.world;
}
/// Whether the calling thread is one of a kernel.
inline bool in_kernel() {
  return this_thread.block != nullptr;
}
/// The part of the GPU's memory that the program allocated itself; set between kernels.
inline std::span<const std::byte> own_memory;

/// Symmetric memory and own_memory play the GPU's memory; all else plays a thread's own variables.
inline bool is_global(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto within = [at](const HeapView& heap) { return at - reinterpret_cast<uintptr_t>(heap.mine) < heap.nbytes; };
  return within(world().heap) || within(world().other) ||
         at - reinterpret_cast<uintptr_t>(own_memory.data()) < own_memory.size();
}

/// Fences of the calling thread: on a GPU each takes longer than all else that a command does.
inline thread_local uint64_t fences = 0;
inline void fenced() {
  ++fences;
}

/// One kernel of one PE.
struct Launch {
  const WorldView* world;
  uint32_t blocks, threads;
  std::function<void()> body;
};

/// Runs kernels, all at once, and returns when they have ended.
inline void run(const std::vector<Launch>& launches) {
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::thread> threads;
  for (const Launch& launch : launches) {
    for (uint32_t b = 0; b < launch.blocks; ++b) {
      Block* const block = blocks.emplace_back(std::make_unique<Block>(b, launch.threads)).get();
      for (uint32_t t = 0; t < launch.threads; ++t) {
        threads.emplace_back([&launch, block, t] {
          this_thread = {launch.world, block, t};
          launch.body();
        });
      }
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace railshmem::emulation
