// SPDX-License-Identifier: BSD-3-Clause
// What a handle of the program stands for.
#pragma once

#include <vector>

#include "overlap/lanes.h"
#include "overlap/lt_products.h"
#include "overlap/sums.h"
#include "overlap/watch.h"
#include "overlap/workspace.h"
#include "src/base/env_types.h"

/// One call at a time. All members of the team make the calls in one order.
struct shmemx_overlap {
  shmem_team_t team;
  int me, n;    ///< rank, members
  int nodes;    ///< that have members
  bool mapped;  ///< all members map each other's memory: copy engines carry pieces. Else the library's collectives do.
  int pieces;   ///< of SHMEM_OVERLAP; 0: by shape
  int streams;  ///< of SHMEM_OVERLAP_STREAMS
  bool own_context;                    ///< of SHMEM_GPU_CONTEXT
  railshmem::GatherProtocol protocol;  ///< of SHMEM_OVERLAP_PROTOCOL
  railshmem::overlap::Workspace workspace;
  railshmem::overlap::Lanes lanes;
  railshmem::overlap::Watch watch;  ///< mark k: for member k to come; mark n + k: for what it does then
  railshmem::overlap::Sums sums;
  railshmem::overlap::LtProducts products;
  std::vector<int> node_of = {};  ///< number of each member's node; empty where all map each other's memory

  /// Members in the order of a ring that begins behind this one: i is 1 to n - 1.
  int behind(int i) const noexcept { return (me + i) % n; }
  size_t come_mark(int member) const noexcept { return static_cast<size_t>(member); }
  size_t later_mark(int member) const noexcept { return static_cast<size_t>(n + member); }
};

namespace railshmem::overlap {

using State = ::shmemx_overlap;

/// The products of one call: the caller's or cuBLASLt's. Where one fails the others are left out, but the call goes on,
/// because the other members wait for its words. They go to the program's stream, or to that and another one in turn.
class CallProducts {
 public:
  CallProducts(State& state, const Gemm& gemm, Stream stream) : state_(state), gemm_(gemm), stream_(stream) {}

  /// cuBLASLt's can be added to other results while they are stored; the program's cannot.
  bool can_add() const noexcept { return gemm_.asked.product == nullptr; }
  /// From now on cuBLASLt's products take turns on two streams, so that the last blocks of one and the first of the
  /// next share the GPU; the program's products stay on its stream. Call end_turns() behind the last one.
  void take_turns();
  void end_turns() const;
  /// Where the next product goes.
  Stream stream() const noexcept { return second_ ? state_.lanes.multiplying() : stream_; }
  /// Throws Error where the product cannot be computed; nothing has happened yet. addend: see give().
  void prepare(size_t nrows, const void* a, const void* c, const void* addend = nullptr);
  /// c = the product of nrows rows. addend: with can_add(), results that are added to it as float, before it is
  /// rounded.
  void give(size_t first_row, size_t nrows, const void* a, void* c, const void* addend = nullptr) noexcept;
  /// Throws Error where a product failed.
  void finish() const;

 private:
  State& state_;
  const Gemm& gemm_;
  const Stream stream_;
  bool in_turn_ = false, second_ = false;
  std::string failure_;
};

/// Sets a word of a member whose memory is mapped, behind what the stream did before. A copy engine does it.
void notify(const State& state, uint64_t* word, Stream stream);
/// Tells all other members that this one has come, behind what the stream did before.
void notify_come(const State& state, Stream stream);

/// The two calls, on streams. Throw Error.
void gather_and_multiply(State& state, const Gemm& gemm, Stream stream);
void multiply_and_scatter(State& state, const Gemm& gemm, Stream stream);

/// How the rows of a member are cut in this call. Throws Error where the stream is invalid.
Cut cut_of(const State& state, const Gemm& gemm, Stream stream);
Shape shape_of(const State& state, const Gemm& gemm) noexcept;

}  // namespace railshmem::overlap
