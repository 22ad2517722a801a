// SPDX-License-Identifier: BSD-3-Clause
// Collectives in the order of a stream among members of one node: runs the steps of a plan.
#pragma once

#include "src/cuda/coll_kernels.h"
#include "src/cuda/side_streams.h"
#include "src/gpu/device_memory.h"
#include "src/gpu/peer_buffers.h"
#include "src/stream/coll.h"
#include "src/stream/team_scratches.h"

namespace railshmem {

/// Any number of threads, one at a time for a team. What is given may be captured into graphs: numbers that count calls
/// lie in the memory of the GPUs. A refusal by the driver ends the job with its words.
class NodeCollectives {
 public:
  /// `memory` must be attached, and outlive this, as `buffers` and `choice` must. There are `slots` slots of teams.
  /// Throws Error.
  NodeCollectives(DeviceMemory& memory, PeerBuffers& buffers, const WorldView& view, const Choice& choice,
                  size_t slots);

  /// Whether all members of the team map each other's GPU memory, and are not too many.
  bool serves(const Team& team) const noexcept;
  Plan plan_of(const Coll& coll) const noexcept { return make_plan(question_of(coll), choice_); }
  /// Appends the collective to a stream. At the first collective of a team the members meet on the host. Throws Error
  /// where the memory for that cannot be had; then nothing was appended on any member.
  void give(const Coll& coll, cuda::Stream stream);
  /// An all-gather by copy engines that sets arrived[k * P + p] to the number of the call, one more than before, when
  /// piece p of member k's block is in dest; P is the number of pieces of a block. dest, and source where it is not
  /// this member's block of dest, lie in the heap, at equal offsets on all members. Throws Error, as give() does.
  void gather_pieces(const Coll& coll, size_t piece_nbytes, uint64_t* arrived, cuda::Stream stream);
  /// A reduce-scatter that begins on piece p of this member's part when ready[me * P + p] of all members is one more
  /// than done[p], which it then raises. source and ready lie in the heap, at equal offsets. Throws Error.
  void combine_pieces(const Coll& coll, size_t piece_nbytes, const uint64_t* ready, uint64_t* done,
                      cuda::Stream stream);
  /// The team is about to go; nothing of it runs any more. A graph that captured calls of it and is launched from now
  /// on ends the job with a message.
  void forget(const Team& team) noexcept { scratches_.forget(team); }
  /// forget() for all teams. Returns whether graphs live on that captured calls: then this and `memory` must stay.
  bool forget_all() noexcept { return scratches_.forget_all(); }
  /// Where kernels of graphs that are launched after forget_all() leave a record, as an address of kernels. Throws
  /// Error.
  void report_late_launches(FaultRecord* record);

 private:
  struct Job;
  void combine(const Job& job);
  void move(const Job& job);
  void move_by_engines(const Job& job);
  const void* of_member(const Coll& coll, const void* address, size_t nbytes, int member) const noexcept;
  const void* must_have(const Coll& coll, const char* argument, const void* address, size_t nbytes, int member) const;
  template <class Call>
  void launch(const Job& job, const Call& call) const noexcept;
  void must(cuda::Result result, const char* call) const noexcept;

  DeviceMemory& memory_;
  PeerBuffers& buffers_;
  const cuda::CollKernels kernels_;
  cuda::SideStreams sides_;
  const Choice& choice_;
  WorldView view_;  ///< of the job, as the kernels have it
  TeamScratches scratches_;
};

}  // namespace railshmem
