// SPDX-License-Identifier: BSD-3-Clause
// What a stream-ordered call leaves to a kernel.
#pragma once

#include <cstdint>
#include <type_traits>

#include "include/shmem/detail/reduce_kind.h"
#include "shmem/types.h"

namespace railshmem::cuda {

enum class StreamStep : uint8_t {
  put,
  put_nbi,
  get,
  get_nbi,
  put_signal,
  put_signal_nbi,
  value,
  signal,
  wait,
  quiet,
  ask_host,
  barrier,
  sync,
  put_signal_near,  ///< by many threads, both in memory that this GPU stores to
};

enum class StridedWay : uint8_t { put, get };

/// Who runs it.
enum class StreamWidth : uint8_t { warp, block, cluster };
inline constexpr unsigned kStreamBlockThreads = 512;

/// By which a stream asks the host for a call that it has kept, in pinned memory: the stream writes the number of the
/// call, and goes on when the word is 0. Launches of one graph that run at once ask for one call that runs behind all
/// of them.
using CallWord = uint32_t;

/// Values of the launch: a graph keeps them as they are.
struct StreamCall {
  StreamStep step;
  TypeKind kind = TypeKind::u64;  ///< of a wait
  int code = 0;                   ///< SHMEM_SIGNAL_*, or SHMEM_CMP_* of a wait
  int pe = 0;
  shmem_team_t team = nullptr;  ///< of barrier and sync
  void* dest = nullptr;         ///< symmetric address; that of the word of wait, value and signal; CallWord
  const void* source = nullptr;
  uint64_t nbytes = 0;
  uint64_t* word = nullptr;  ///< put_signal's
  uint64_t value = 0;        ///< of a signal; to store; to compare with; the number of a host call
};
static_assert(std::is_trivially_copyable_v<StreamCall>);

/// Elements that lie apart. The blocks of the grid share them; only where the peer is mapped are there several.
struct StreamStrides {
  StridedWay way;
  int pe;
  void* dest;
  const void* source;
  uint64_t nelems = 0;
  uint32_t element = 0;      ///< bytes
  uint32_t nblocks = 0;      ///< of the grid
  int64_t to = 0, from = 0;  ///< bytes from element to element in dest and in source
};
static_assert(std::is_trivially_copyable_v<StreamStrides>);

/// A wait for all of several words.
struct StreamWords {
  TypeKind kind;
  int cmp;
  const void* words;
  uint64_t n;
  const int* status;   ///< one each, or null; what is not 0 leaves its word out
  const void* values;  ///< one each to compare with, or null: `value`
  uint64_t value;
};
static_assert(std::is_trivially_copyable_v<StreamWords>);

}  // namespace railshmem::cuda
