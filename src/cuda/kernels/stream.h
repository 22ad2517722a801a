// SPDX-License-Identifier: BSD-3-Clause
// Steps of stream-ordered calls, by the threads of one block or cluster. For CUDA, and for threads that stand for
// kernels.
#pragma once

#include "shmem/device/calls/collective.h"
#include "shmem/device/calls/ordering.h"
#include "shmem/device/calls/rma.h"
#include "shmem/device/calls/signal.h"
#include "shmem/device/calls/wait.h"
#include "src/cuda/kernels/cluster_scope.h"
#include "src/cuda/kernels/reduce.h"
#include "src/cuda/kernels/stream_call.h"

namespace railshmem::cuda::kernels {

/// Calls `wait(T{})` with the type of the words.
template <class Wait>
RAILSHMEM_KERNEL inline void wait_as(TypeKind kind, Wait&& wait) {
  switch (kind) {
    case TypeKind::i16:
      return wait(int16_t{});
    case TypeKind::i32:
      return wait(int32_t{});
    case TypeKind::i64:
      return wait(int64_t{});
    case TypeKind::u16:
      return wait(uint16_t{});
    case TypeKind::u32:
      return wait(uint32_t{});
    default:
      return wait(uint64_t{});
  }
}

RAILSHMEM_KERNEL inline void wait(const StreamCall& call) {
  wait_as(call.kind, [&](auto word) {
    using T = decltype(word);
    device::WordWaits<T>::until(static_cast<const T*>(call.dest), call.code, static_cast<T>(call.value));
  });
}

template <class T>
RAILSHMEM_KERNEL inline void store_as(const StreamCall& call) {
  const WorldView& world = device::this_world();
  const ChannelStatus status =
      device::p(world, static_cast<T*>(call.dest), static_cast<T>(call.value), device::Peer(call.pe));
  device::finish(world, DeviceCall::p, status, call.pe, call.dest);
}

RAILSHMEM_KERNEL inline void store(const StreamCall& call) {
  switch (call.nbytes) {
    case 1:
      return store_as<uint8_t>(call);
    case 2:
      return store_as<uint16_t>(call);
    case 4:
      return store_as<uint32_t>(call);
    default:
      return store_as<uint64_t>(call);
  }
}

/// What one thread does.
RAILSHMEM_KERNEL inline void lead_step(const StreamCall& call) {
  auto* const word = static_cast<uint64_t*>(call.dest);
  if (call.step == StreamStep::wait) return wait(call);
  if (call.step == StreamStep::quiet) return device::quiet_on(SHMEM_CTX_DEFAULT);
  if (call.step == StreamStep::value) return store(call);
  if (call.code == SHMEM_SIGNAL_ADD) return device::add_signal(SHMEM_CTX_DEFAULT, word, call.value, call.pe);
  device::set_signal(SHMEM_CTX_DEFAULT, word, call.value, call.pe);
}

/// Everything but collectives that move or compute.
RAILSHMEM_KERNEL inline void run_step(const StreamCall& c) {
  using device::BlockScope;
  using Bytes = device::Mover<1, BlockScope>;
  using Signals = device::Signaller<1, BlockScope>;
  switch (c.step) {
    case StreamStep::put:
      return Bytes::put(SHMEM_CTX_DEFAULT, c.dest, c.source, c.nbytes, c.pe);
    case StreamStep::put_nbi:
      return Bytes::put_nbi(SHMEM_CTX_DEFAULT, c.dest, c.source, c.nbytes, c.pe);
    case StreamStep::get:
      return Bytes::get(SHMEM_CTX_DEFAULT, c.dest, c.source, c.nbytes, c.pe);
    case StreamStep::get_nbi:
      return Bytes::get_nbi(SHMEM_CTX_DEFAULT, c.dest, c.source, c.nbytes, c.pe);
    case StreamStep::put_signal:
      return Signals::put_signal(SHMEM_CTX_DEFAULT, c.dest, c.source, c.nbytes, c.word, c.value, c.code, c.pe);
    case StreamStep::put_signal_nbi:
      return Signals::put_signal_nbi(SHMEM_CTX_DEFAULT, c.dest, c.source, c.nbytes, c.word, c.value, c.code, c.pe);
    case StreamStep::barrier:
      return device::barrier_members<BlockScope>(c.team);
    case StreamStep::sync:
      return static_cast<void>(device::sync_members<BlockScope>(DeviceCall::team_sync, c.team));
    default:
      if (BlockScope::leads()) lead_step(c);
  }
}

RAILSHMEM_HD inline uint64_t bytes_of(TypeKind kind) {
  if (kind == TypeKind::i8 || kind == TypeKind::u8) return 1;
  if (kind == TypeKind::i16 || kind == TypeKind::u16) return 2;
  return kind == TypeKind::i32 || kind == TypeKind::u32 || kind == TypeKind::f32 ? 4 : 8;
}

/// reduce(), which is long, once in a kernel.
RAILSHMEM_KERNEL RAILSHMEM_OUT_OF_LINE inline void reduce_part(const DeviceReduction& part, uint64_t first,
                                                               uint64_t step) {
  reduce(part, first, step);
}

/// Piece by piece through the room that each member has for the others' operands. `shared`: of the block.
RAILSHMEM_KERNEL inline ChannelStatus reduce_far(const WorldView& world, const device::Members& team,
                                                 const StreamCall& call, DeviceReduction& shared) {
  using device::BlockScope;
  const uint64_t from_step = call.step == StreamStep::reducescatter ? call.nbytes : 0;
  if (team.size() > DeviceReduction::kMost) return ChannelStatus::bad_handle;
  for (uint64_t done = 0; done < call.nbytes; done += DeviceControlLayout::kPacketBytes) {
    const uint64_t left = call.nbytes - done;
    const uint64_t count = left < DeviceControlLayout::kPacketBytes ? left : DeviceControlLayout::kPacketBytes;
    // Two halves in turn: who is at the next piece has met everybody after they used the last but one.
    const uint64_t number = portable::load_relaxed(&team.counters()->syncs) + 1;
    const auto room = [&](int rank) { return team.mine<unsigned char>(team.layout().room(team.slot(), number, rank)); };
    const ChannelStatus put = device::put_each<BlockScope>(world, team, room(team.rank()),
                                                           device::at(call.source, done), {count, 0, from_step});
    const ChannelStatus status = device::settle<BlockScope>(world, team, put);
    if (status != ChannelStatus::ok) return status;
    if (BlockScope::leads()) {
      shared.op = call.op;
      shared.kind = call.kind;
      shared.scaling = Scaling::none;
      shared.nelems = count / bytes_of(call.kind);
      shared.noperands = team.size();
      for (int i = 0; i < team.size(); ++i) shared.operands[i] = room(i);
      shared.nresults = 1;
      shared.results[0] = device::at(call.dest, done);
    }
    BlockScope::sync();
    reduce_part(shared, BlockScope::rank(), BlockScope::size());
    BlockScope::sync();
  }
  return ChannelStatus::ok;
}

/// What moves data among the members of a team, or to one PE, by all threads of a scope.
template <class Scope>
RAILSHMEM_KERNEL inline void run_moves(const StreamCall& c) {
  using Bytes = device::TeamMover<1, Scope>;
  switch (c.step) {
    case StreamStep::put_signal_near:
      return device::Signaller<1, Scope>::put_signal_nbi(SHMEM_CTX_DEFAULT, c.dest, c.source, c.nbytes, c.word, c.value,
                                                         c.code, c.pe);
    case StreamStep::broadcast:
      return static_cast<void>(Bytes::broadcast(c.team, c.dest, c.source, c.nbytes, c.pe));
    case StreamStep::fcollect:
      return static_cast<void>(Bytes::fcollect(c.team, c.dest, c.source, c.nbytes));
    default:
      return static_cast<void>(Bytes::alltoall(c.team, c.dest, c.source, c.nbytes));
  }
}

/// Reduces by one block, whether members are mapped or not.
RAILSHMEM_KERNEL inline void run_reduce(const StreamCall& c, DeviceReduction& shared) {
  device::on_team(DeviceCall::reduce, c.team, c.dest, [&](const WorldView& world, const device::Members& team) {
    return reduce_far(world, team, c, shared);
  });
}

}  // namespace railshmem::cuda::kernels
