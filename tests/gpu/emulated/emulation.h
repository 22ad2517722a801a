// SPDX-License-Identifier: BSD-3-Clause
// Kernels on the host, whose threads are fibers or threads: what include/shmem/detail/threads.h asks for, shared
// memory, and a launch. For programs that are compiled with RAILSHMEM_EMULATION throughout.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "include/shmem/detail/threads.h"
#include "include/shmem/detail/world.h"
#include "tests/gpu/emulated/fibers.h"

#if !defined(RAILSHMEM_EMULATION)
#error "compile the whole program with RAILSHMEM_EMULATION"
#endif

namespace railshmem::emulation {

/// Waits here end after this long: a kernel whose threads miss each other is a failed test, not a hung one.
inline constexpr uint64_t kDeadlineNs = 120'000'000'000;

struct Block;
struct Together;

struct Thread {
  const WorldView* world = nullptr;
  Block* block = nullptr;
  uint32_t rank = 0;
  std::shared_ptr<Together> together;
};

inline thread_local Thread this_thread;

/// Fences of the calling thread: on a GPU each takes longer than all else that a command does.
inline thread_local uint64_t fences = 0;
inline void fenced() {
  ++fences;
}

/// Whether threads of a kernel are fibers of one thread of the host. Sanitizers see threads.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kFibers = false;
#else
inline constexpr bool kFibers = true;
#endif

/// What a thread of a kernel has of its own.
struct Variables {
  Dim thread, block, threads, blocks;
  Thread self;
  uint64_t fenced = 0;

  void swap() {
    std::swap(thread, railshmem::threads::threadIdx);
    std::swap(block, railshmem::threads::blockIdx);
    std::swap(threads, railshmem::threads::blockDim);
    std::swap(blocks, railshmem::threads::gridDim);
    std::swap(self, this_thread);
    std::swap(fenced, fences);
  }
};
using KernelThreads = Fibers<Variables>;

inline void pause(uint32_t turn) {
  if (KernelThreads* const threads = KernelThreads::running()) {
    threads->pass(turn > 0);
  } else if (turn >= 256) {
    nap(turn - 256);
  } else if (turn % 4 == 3) {
    sched_yield();
  }
}

/// All of a group's threads meet; writes before the meeting are visible to all after it. Who waits leaves the CPU to
/// others: there are many more threads than CPUs.
class Meeting {
 public:
  /// `size`: how many meet.
  void wait(uint32_t size, const char* what) {
    const uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      if (KernelThreads::running() == nullptr) futex(FUTEX_WAKE_PRIVATE, INT_MAX, nullptr);
      return;
    }
    const uint64_t end = portable::clock_ns() + kDeadlineNs;
    for (bool before = false; round_.load(std::memory_order_acquire) == round; before = true) {
      constexpr timespec kNap{1, 0};
      if (KernelThreads* const threads = KernelThreads::running())
        threads->pass(before);
      else
        futex(FUTEX_WAIT_PRIVATE, round, &kNap);
      if (portable::clock_ns() > end) {
        std::fprintf(stderr, "emulation: threads of a kernel miss each other at %s\n", what);
        std::abort();
      }
    }
  }

 private:
  void futex(int what, uint32_t value, const timespec* nap) {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&round_), what, value, nap, nullptr, 0);
  }

  std::atomic<uint32_t> arrived_{0};
  std::atomic<uint32_t> round_{0};
};

/// Lanes of a warp that call together, and the words that they tell each other.
struct Together {
  std::atomic<uint32_t> lanes{0};
  std::atomic<bool> closed{false};
  std::array<std::atomic<uint64_t>, 32> words{};
  std::array<Meeting, 32> meetings;  ///< of a part of the lanes: that of its first lane
};

struct Warp {
  uint32_t size = 0;
  std::atomic<uint32_t> away{0};  ///< lanes that wait for others, or have ended
  std::atomic<uint32_t> told{0};  ///< by the first lane
  std::atomic<uint32_t> raised{0};
  Meeting all;
  std::array<std::atomic<uint32_t>, 32> passed{};  ///< by each lane to the others
  std::mutex mutex;
  std::shared_ptr<Together> open;  ///< more lanes may join
};

/// Threads of one block, how they meet, and what they share.
struct Block {
  Block(Dim dim, size_t dynamic_nbytes) : size(dim.x * dim.y * dim.z), warps((size + 31) / 32) {
    for (uint32_t first = 0; first < size; first += 32) warps[first / 32].size = size - first < 32 ? size - first : 32;
    dynamic_shared.assign(dynamic_nbytes, kUnset);
  }
  /// What shared memory holds before a thread stores to it.
  static constexpr std::byte kUnset{0xA5};

  const uint32_t size;
  Meeting all;
  std::array<Meeting, 2> parts;
  std::vector<Warp> warps;
  std::atomic<uint32_t> told{0};  ///< by the first thread
  std::mutex mutex;
  std::map<std::string, std::vector<std::byte>> shared;  ///< by name
  std::vector<std::byte> dynamic_shared;
};

inline uint32_t thread_in_block() {
  return threads::rank_in_block();
}
inline uint32_t block_in_grid() {
  return threads::block_in_grid();
}
inline Warp& warp() {
  return this_thread.block->warps[this_thread.rank / 32];
}
inline void meet(Meeting& meeting, uint32_t size, const char* what) {
  // relaxed, here and below: an old count only makes a lane wait longer, or for fewer others, than it could.
  warp().away.fetch_add(1, std::memory_order_relaxed);
  meeting.wait(size, what);
  warp().away.fetch_sub(1, std::memory_order_relaxed);
}
inline void sync_block() {
  meet(this_thread.block->all, this_thread.block->size, "__syncthreads");
}
inline void sync_part(uint32_t part, uint32_t size) {
  meet(this_thread.block->parts[part], size, "bar.sync");
}
inline void sync_warp() {
  meet(warp().all, warp().size, "__syncwarp");
}

inline uint32_t from_first_of_warp(uint32_t word) {
  if (this_thread.rank % 32 == 0) warp().told.store(word, std::memory_order_relaxed);
  sync_warp();
  word = warp().told.load(std::memory_order_relaxed);
  sync_warp();
  return word;
}
inline uint32_t lanes_that(bool raise) {
  if (raise) warp().raised.fetch_or(1u << this_thread.rank % 32, std::memory_order_relaxed);
  sync_warp();
  const uint32_t raised = warp().raised.load(std::memory_order_relaxed);
  sync_warp();
  if (this_thread.rank % 32 == 0) warp().raised.store(0, std::memory_order_relaxed);
  sync_warp();
  return raised;
}
inline uint32_t from_first_of_block(uint32_t word) {
  if (this_thread.rank == 0) this_thread.block->told.store(word, std::memory_order_relaxed);
  sync_block();
  word = this_thread.block->told.load(std::memory_order_relaxed);
  sync_block();
  return word;
}

/// For how many turns at most a lane looks out for others that make its call: threads have no lockstep. Tests that need
/// all lanes of a warp together, but those that are away, set kAllLanes.
inline constexpr uint32_t kAllLanes = ~0u;
inline std::atomic<uint32_t> patience = 16;

/// Lanes join until the first one ends the round.
inline uint32_t active_lanes() {
  Warp& mine = warp();
  if (mine.size == 1) {
    if (this_thread.together == nullptr) this_thread.together = std::make_shared<Together>();
    return 1;
  }
  const uint32_t bit = 1u << this_thread.rank % 32;
  bool first = false;
  {
    const std::lock_guard lock(mine.mutex);
    first = mine.open == nullptr;
    if (first) mine.open = std::make_shared<Together>();
    this_thread.together = mine.open;
    mine.open->lanes.fetch_or(bit, std::memory_order_relaxed);
  }
  Together& together = *this_thread.together;
  const uint64_t end = portable::clock_ns() + kDeadlineNs;
  for (uint32_t turn = 0; !together.closed.load(std::memory_order_acquire); ++turn) {
    const uint32_t here = threads::count_lanes(together.lanes.load(std::memory_order_relaxed));
    const bool all = here + mine.away.load(std::memory_order_relaxed) >= mine.size;
    if (first && (all || turn >= patience.load(std::memory_order_relaxed))) {
      const std::lock_guard lock(mine.mutex);
      mine.open.reset();
      together.closed.store(true, std::memory_order_release);
    } else if (portable::clock_ns() > end) {
      std::fprintf(stderr, "emulation: lanes of a warp miss each other\n");
      std::abort();
    } else {
      portable::relax(255);
    }
  }
  return together.lanes.load(std::memory_order_relaxed);
}
inline void sync_lanes(uint32_t lanes) {
  this_thread.together->meetings[threads::first_lane(lanes)].wait(threads::count_lanes(lanes), "__syncwarp");
}
/// All lanes see the words of all until they meet again.
inline const std::array<std::atomic<uint64_t>, 32>& tell_lanes(uint32_t lanes, uint64_t word) {
  auto& words = this_thread.together->words;
  words[this_thread.rank % 32].store(word, std::memory_order_relaxed);
  sync_lanes(lanes);
  return words;
}
inline uint32_t equal_lanes(uint32_t lanes, uint64_t word) {
  const auto& words = tell_lanes(lanes, word);
  uint32_t equal = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const bool there = (lanes >> lane & 1) != 0;
    if (there && words[lane].load(std::memory_order_relaxed) == word) equal |= 1u << lane;
  }
  sync_lanes(lanes);
  return equal;
}
inline uint64_t from_lane(uint32_t lanes, uint64_t word, uint32_t lane) {
  const uint64_t told = tell_lanes(lanes, word)[lane].load(std::memory_order_relaxed);
  sync_lanes(lanes);
  return told;
}
inline uint32_t from_lane_of_warp(uint32_t word, uint32_t lane) {
  warp().passed[this_thread.rank % 32].store(word, std::memory_order_relaxed);
  sync_warp();
  word = warp().passed[lane % 32].load(std::memory_order_relaxed);
  sync_warp();
  return word;
}

/// The block's variable of this name: `__shared__ T name;`.
template <class T>
T& shared(const std::string& name) {
  Block& block = *this_thread.block;
  const std::lock_guard lock(block.mutex);
  std::vector<std::byte>& bytes = block.shared[name];
  if (bytes.empty()) bytes.assign(sizeof(T), Block::kUnset);
  return *reinterpret_cast<T*>(bytes.data());
}
/// `extern __shared__ T name[];`: of the size that the launch gives.
template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(this_thread.block->dynamic_shared.data());
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

/// What is not global plays variables of one thread, though shared memory is among it, which other threads could read.
inline bool is_private(const void* address) {
  return !is_global(address);
}

/// One kernel of one PE.
struct Launch {
  const WorldView* world;
  Dim blocks, threads;
  std::function<void()> body;
  size_t shared_nbytes = 0;  ///< dynamic shared memory of a block
};

/// Calls `with` for every place in a box.
template <class With>
void for_all(Dim box, const With& with) {
  for (uint32_t z = 0; z < box.z; ++z) {
    for (uint32_t y = 0; y < box.y; ++y) {
      for (uint32_t x = 0; x < box.x; ++x) with(Dim(x, y, z));
    }
  }
}

/// Runs kernels, all at once, and returns when they have ended.
inline void run(const std::vector<Launch>& launches) {
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::thread> running;
  KernelThreads fibers;
  for (const Launch& launch : launches) {
    for_all(launch.blocks, [&](Dim at) {
      Block* const block = blocks.emplace_back(std::make_unique<Block>(launch.threads, launch.shared_nbytes)).get();
      for_all(launch.threads, [&](Dim index) {
        const uint32_t rank = index.x + launch.threads.x * (index.y + launch.threads.y * index.z);
        Variables own{index, at, launch.threads, launch.blocks, {launch.world, block, rank, nullptr}};
        auto body = [&launch] {
          launch.body();
          warp().away.fetch_add(1, std::memory_order_relaxed);
        };
        if (kFibers)
          fibers.add(std::move(own), std::move(body));
        else
          running.emplace_back([own = std::move(own), body = std::move(body)]() mutable {
            own.swap();
            body();
          });
      });
    });
  }
  fibers.run();
  for (std::thread& thread : running) thread.join();
}

}  // namespace railshmem::emulation
