// SPDX-License-Identifier: BSD-3-Clause
// The CUDA driver, opened at run time without its headers: only what this library needs of it.
#pragma once

#include <shmemx.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace railshmem::overlap {

using Result = int;        ///< CUresult
using Address = uint64_t;  ///< CUdeviceptr
using Stream = shmemx_stream_t;
using Event = struct CUevent_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;

inline Address address_of(const void* pointer) noexcept {
  return reinterpret_cast<uintptr_t>(pointer);
}

inline void* pointer_of(Address address) noexcept {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): the driver counts addresses
}

/// CUstreamBatchMemOpParams, of waits for and writes to words of 64 bits. In pinned memory or memory of this PE's GPU:
/// drivers refuse memory of a peer's GPU. Writes have no flags: this version of the call refuses them.
struct WordOp {
  int op;
  unsigned unused = 0;
  Address address = 0;
  uint64_t value = 0;
  unsigned flags = 0;
  Address alias = 0;
  uint64_t rest = 0;
};
inline WordOp write_word(const void* word, uint64_t value) noexcept {
  constexpr int kWrite64 = 5;
  return {kWrite64, 0, address_of(word), value, 0, 0, 0};  // behind what the stream did before, visible to all
}
inline WordOp await_word(const void* word, uint64_t value) noexcept {
  constexpr int kWait64 = 4;
  constexpr unsigned kEqual = 1;
  return {kWait64, 0, address_of(word), value, kEqual, 0, 0};
}

/// CUlaunchAttribute, of those whose value is a number.
struct LaunchAttribute {
  static constexpr int kEarly = 6;  ///< a number but 0: the kernel may begin while the one before it ends
  int id, unused = 0;
  int value;
  char rest[60] = {};
};
/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3], block[3], shared_nbytes;
  Stream stream;
  const LaunchAttribute* attributes;
  unsigned count;  ///< of attributes
};

struct DriverCalls {
#define CALL(member, symbol, ...) Result (*member)(__VA_ARGS__) = nullptr;
#include "overlap/driver_calls.inc"
#undef CALL
};

/// The driver of this process. Throws Error if none exists or if it is too old.
const DriverCalls& driver();

/// Throws Error that names the call where the driver refuses it.
void must(Result result, const char* call);
/// Whether what the stream is given goes into a graph. Throws Error where the stream is invalid.
bool is_captured(Stream stream);
/// Appends the operations to the stream, in order.
void give_words(std::span<WordOp> ops, Stream stream);

}  // namespace railshmem::overlap
