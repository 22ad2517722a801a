// SPDX-License-Identifier: BSD-3-Clause
// Kernels that are host threads, in a job of the real library: see kernels.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/world.h"

namespace railshmem::device_heap {

constexpr int kWords = 4096, kBlocks = 2, kThreads = 32;

/// Symmetric memory.
struct Memory {
  uint64_t *source, *dest, *back, *signals, *sums;
};

/// Words whose updates the program makes promises about, and words without.
struct Declared {
  uint64_t *node_only, *set_only, *plain;
  void* context;  ///< SHMEMX_CTX_NODE_ONLY
};

uint64_t value_of(int pe, int i, int round);

/// Each runs on every PE and returns what was wrong: 0, or the line of the first failure.
int queries(const WorldView& world, int me, int npes);
int put_and_get(const WorldView& world, const Memory& m, int right);
int put_signal(const WorldView& world, const Memory& m, int right, int left, int round);
int add_all(const WorldView& world, const Memory& m, int npes);
int check_sums(const WorldView& world, const Memory& m, int npes, int rounds);
int values_in_order(const WorldView& world, const Memory& m, int right);
int collectives(const WorldView& world, const Memory& m, int me, int npes);

/// Updates of the node's PEs that need no proxy; `others` adds those of all PEs that do.
int update_declared(const WorldView& world, const Declared& d, bool others, uint64_t round);
int check_declared(const WorldView& world, const Declared& d, uint64_t rounds, uint64_t rounds_of_others,
                   uint64_t by_host);

/// `team` is the world in reverse, `context` one of it.
int team_and_context(const WorldView& world, const Memory& m, void* team, void* context, int me, int npes);

/// One call each.
int put_from(const WorldView& world, void* dest, const void* source, size_t nbytes, int pe);
int get_to(const WorldView& world, void* dest, const void* source, size_t nbytes, int pe);
int add_to(const WorldView& world, uint64_t* word, uint64_t value, int pe);

/// Waits for a word that nobody sets.
int wait_for_ever(const WorldView& world, const Memory& m);
/// Puts to a PE that there is not.
int put_to(const WorldView& world, const Memory& m, int pe);

}  // namespace railshmem::device_heap
