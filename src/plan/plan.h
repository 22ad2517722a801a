// SPDX-License-Identifier: BSD-3-Clause
// How a collective in the order of a stream runs inside a node: a short list of steps, from what all members know
// alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "include/shmem/detail/reduce_kind.h"
#include "src/plan/choice.h"

namespace railshmem {

/// What is asked. Every field has one value on all members, so all members make one plan. There is no field for where
/// buffers lie, which members do not know of each other: a plan works with any buffers, and its steps find out.
struct Question {
  Collective collective;
  size_t nbytes;  ///< that one member hands to one other; of reduce: of the vector
  size_t element;
  int members;
  bool sizes_differ = false;  ///< members hand each other blocks of sizes that others do not know; nbytes means nothing
  uint32_t max_blocks = 0;    ///< 0: as many as the size pays for
  bool spares_sms = false;    ///< copy engines where there are any, and one block that waits for members
  bool own_kernel = false;    ///< there is a kernel for reductions of this type and operation alone
};

enum class StepKind : uint8_t {
  exchange,  ///< a kernel: packets
  direct,    ///< a kernel: members meet, move or reduce from buffer to buffer, meet
  staged,    ///< a kernel: chunks through scratch memory of the receivers
  begin,     ///< a kernel: members meet and tell each other how their blocks lie
  copies,    ///< copy engines fetch from all other members; its blocks, if any, copy the own block beside that
  end,       ///< a kernel: members meet, or do everything where the copies could not
};

struct Step {
  StepKind kind;
  uint32_t blocks = 0;   ///< of a kernel
  uint32_t threads = 0;  ///< of each block
  /// Of an exchange: 16 bytes each, that a thread handles at a time. One only where there is a single exchange: kernels
  /// of several send equal packets then, so members may run either.
  uint32_t units = 0;
};

struct Plan {
  static constexpr size_t kMost = 3;

  Algorithm algorithm;
  std::array<Step, kMost> steps{};
  size_t nsteps = 0;

  void add(Step step) noexcept { steps[nsteps++] = step; }
  const Step* begin() const noexcept { return steps.data(); }
  const Step* end() const noexcept { return steps.data() + nsteps; }
};

/// A pure function.
Plan make_plan(const Question& question, const Choice& choice) noexcept;

/// In one line: "fcollect of 65536 bytes among 2 members: packets; exchange by 32 blocks of 128 threads".
std::string explain(const Question& question, const Plan& plan);

/// Blocks of a kernel that exchange packets, at most: their places in the scratch memory of a member are limited.
constexpr size_t packet_blocks(int members) noexcept {
  const size_t blocks = 256 / static_cast<size_t>(members);
  return blocks > 128 ? 128 : blocks;
}

/// Bytes of each part of an all-reduce by parts: a multiple of what a thread handles at a time.
size_t part_nbytes(size_t nbytes, int members) noexcept;

}  // namespace railshmem
