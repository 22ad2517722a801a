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

/// Has the host run a call. The host watches the deadline and dead peers meanwhile; only the job's error word ends the
/// wait here.
RAILSHMEM_KERNEL inline void ask_host(const StreamCall& call) {
  auto* const word = static_cast<CallWord*>(call.dest);
  // release: pairs with the acquire in take_asked(); what the stream did before is visible to copies and NICs.
  portable::store_release(word, static_cast<CallWord>(call.value));
  device::Waiter waiter(device::error_of(device::this_world()), device::Deadline::never());
  // acquire: pairs with the release in answer(); what the call brought is visible after.
  while (portable::load_acquire(word) != 0)
    if (waiter.turn() != ChannelStatus::ok) return;
}

/// What one thread does.
RAILSHMEM_KERNEL inline void lead_step(const StreamCall& call) {
  auto* const word = static_cast<uint64_t*>(call.dest);
  if (call.step == StreamStep::wait) return wait(call);
  if (call.step == StreamStep::quiet) return device::quiet_on(SHMEM_CTX_DEFAULT);
  if (call.step == StreamStep::value) return store(call);
  if (call.step == StreamStep::ask_host) return ask_host(call);
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

/// What all threads of a scope store to a PE whose memory is mapped.
template <class Scope>
RAILSHMEM_KERNEL inline void run_near(const StreamCall& c) {
  device::Signaller<1, Scope>::put_signal_nbi(SHMEM_CTX_DEFAULT, c.dest, c.source, c.nbytes, c.word, c.value, c.code,
                                              c.pe);
}

}  // namespace railshmem::cuda::kernels
