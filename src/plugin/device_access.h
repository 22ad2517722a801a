// SPDX-License-Identifier: BSD-3-Clause
// Contract: how host calls reach GPU memory, which the CPU cannot load from or store to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "include/shmem/detail/amo.h"
#include "include/shmem/detail/reduce_kind.h"

namespace railshmem {

/// The hints with which a program gives up updates from other nodes; for the message that refuses such an update.
inline constexpr char kPromises[] =
    "the memory (SHMEMX_MALLOC_NODE_ONLY, SHMEMX_MALLOC_SET_ONLY) or the context (SHMEMX_CTX_NODE_ONLY) was declared "
    "so; "
    "do without the hint, or update it inside the node only";

struct DeviceCopy {
  void* to;
  const void* from;
  size_t nbytes;
};

/// Element i of all operands, combined in their order, goes to element i of all results. An operand's array may also be
/// a result.
struct DeviceReduction {
  static constexpr int kMost = 64;  ///< operands, and also results

  ReduceOp op;
  TypeKind kind;
  Scaling scaling;  ///< of sums of floating-point and complex elements
  double factor;    ///< Scaling::factor and quotient
  int noperands;
  int nresults;
  uint64_t nelems;
  const void* operands[kMost];
  void* results[kMost];
};

/// Copies and reductions under way in the background, in any order. One thread at a time. A failure ends the job with
/// the driver's words.
class DeviceQueue {
 public:
  using Ticket = uint64_t;
  static constexpr Ticket kDone = 0;  ///< of what is over already
  /// Copies of different lanes run side by side; so do a copy and a reduction.
  static constexpr size_t kLanes = 4;

  /// Waits for what is under way.
  virtual ~DeviceQueue() = default;
  /// Starts a copy between memory of this PE or of a PE that is mapped here, of a GPU or of the host. The host's is
  /// pinned: copies of pageable memory may wait for those of the program.
  virtual Ticket copy(const DeviceCopy& copy, size_t lane) noexcept = 0;
  /// Starts a reduction of arrays that are all device memory mapped here, of any elements but long double. Small floats
  /// are rounded once. Reductions run one after the other, in the order of their start. Needs
  /// DeviceAccess::has_reducer().
  virtual Ticket reduce(const DeviceReduction& reduction) noexcept = 0;
  /// Never blocks. True: the bytes are visible to everybody.
  virtual bool finished(Ticket ticket) noexcept = 0;
  /// Pinned host memory for whoever uses the queue: a value that copies take to several places.
  virtual uint64_t& word() noexcept = 0;
};

/// Any number of threads may call. The functions are virtual because each call costs microseconds anyway. A failure
/// ends the job with the driver's words.
class DeviceAccess {
 public:
  virtual ~DeviceAccess() = default;

  virtual bool is_device(const void* address) noexcept = 0;
  /// Copies between device or host memory of this PE or of a PE that is mapped here. Returns when the bytes are visible
  /// to everybody. An aligned word of 4 or 8 bytes appears whole.
  virtual void copy(void* to, const void* from, size_t nbytes) noexcept = 0;
  /// Makes copies that do not depend on each other, all under way at once. Returns when all are visible to everybody.
  virtual void copy_all(std::span<const DeviceCopy> copies) noexcept = 0;
  /// Reduces arrays that are all device memory mapped here. Waits for a free multiprocessor where kernels fill the GPU,
  /// until a deadline ends the job. False, and nothing happened: no kernel of this library computes with such elements.
  virtual bool reduce(const DeviceReduction& reduction) noexcept = 0;
  /// Whether queues reduce: not in a library without kernels.
  virtual bool has_reducer() noexcept = 0;
  /// Throws Error.
  virtual std::unique_ptr<DeviceQueue> make_queue() = 0;
  /// Whether the program declared that remote PEs only set this word of this PE, so that GPUs update it themselves.
  virtual bool updates_directly(const void* symmetric) noexcept = 0;
  /// One atomic operation on an aligned word of device memory mapped here, atomic to kernels; returns the old value.
  virtual uint64_t amo(void* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept = 0;
};

}  // namespace railshmem
