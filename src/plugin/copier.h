// SPDX-License-Identifier: BSD-3-Clause
// Contract: how bytes move between memory that rails cannot reach and host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "src/plugin/word_amo.h"

namespace railshmem {

/// Copies run in the background and may end in any order. One thread at a time uses an object. Virtual, because what
/// copies may be a plug-in: a call per copy of many bytes, and none where all memory is the host's.
class Copier {
 public:
  using Ticket = uint64_t;

  /// Waits for the copies under way.
  virtual ~Copier() = default;

  /// Starts a copy. Either side may be staged or host memory; both stay as they are until it is finished. An aligned
  /// word of 4 or 8 bytes appears whole.
  virtual Ticket start(std::byte* to, const std::byte* from, size_t nbytes) noexcept = 0;
  /// Starts a copy, perhaps of no bytes, and behind it the store of `value` to an aligned word of 8 bytes of staged
  /// memory: who sees the value sees the bytes. Stores to one word happen in the order in which they were started, and
  /// before any later amo() on it.
  virtual Ticket start_then_set(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word,
                                uint64_t value) noexcept = 0;
  /// True once: the bytes are there, for everybody who reads that memory, and the ticket is no more.
  virtual bool finished(Ticket ticket) noexcept = 0;

  /// Whether only copies reach this address of no segment: memory of a GPU that the program allocated itself.
  virtual bool alone_reaches(const std::byte* place) noexcept = 0;

  /// Executes them on words of staged memory as if one came after the other. Returns when all are done.
  virtual void amos(std::span<WordAmo> amos) noexcept = 0;
  /// One; returns the old value.
  uint64_t amo(std::byte* word, uint8_t width, AmoOp op, uint64_t operand, uint64_t compare) noexcept {
    WordAmo one{word, width, op, operand, compare};
    amos({&one, 1});
    return one.old;
  }
};

/// The host memory that a copier copies from and to, beside users' buffers.
struct BounceMemory {
  std::span<std::byte> own;                               ///< this PE's bounce area
  std::span<const std::span<std::byte>> neighbours = {};  ///< other PEs' areas that are mapped here; outlive the copier
};

/// Makes a copier for one thread.
using MakeCopier = std::function<std::unique_ptr<Copier>(const BounceMemory& bounce)>;

}  // namespace railshmem
