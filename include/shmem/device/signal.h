// SPDX-License-Identifier: BSD-3-Clause
// Signals: alone, or after the data of their put.
#ifndef SHMEM_DEVICE_SIGNAL_H
#define SHMEM_DEVICE_SIGNAL_H

#include <stdint.h>

#include "shmem/device/atomics.h"
#include "shmem/device/rma.h"

namespace railshmem {
namespace device {

/// Updates the signal of a mapped peer, after everything this thread wrote before.
RAILSHMEM_HD inline void update_signal(uint64_t* at, uint64_t value, SignalOp op) {
  portable::release_fence();
  apply_amo<uint64_t>(at, op == SignalOp::add ? AmoOp::add : AmoOp::set, value, 0);
}

/// Whether the update is a store or an atomic of this GPU. A store needs no atomic: setting is atomic with setting.
RAILSHMEM_HD inline bool is_direct(const HeapPlace& signal, SignalOp op, Peer peer) {
  return signal.here != nullptr && (op == SignalOp::set || peer.direct_atomics || has_direct_atomics(signal));
}

/// The signal alone, by the proxy, in the channel of `block`. `written`: the signal comes after everything that this
/// thread wrote before.
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus signal_by(const WorldView& world, const HeapPlace& signal,
                                                                  uint64_t value, SignalOp op,
                                                                  RAILSHMEM_STRUCT(Peer) peer, Payload payload,
                                                                  uint32_t block) {
  const ChannelStatus refused = refusal(world, signal, peer.pe);
  if (refused != ChannelStatus::ok) return refused;
  if (op == SignalOp::add && is_promised(signal, peer)) return ChannelStatus::promised;
  Command c = command_to(world, CommandOp::signal, signal, 0, peer);
  c.remote_offset = 0;
  c.signal_segment = c.segment;
  c.signal_offset = signal.offset;
  c.signal_value = value;
  c.signal_op = op;
  return push(channel_of(world, block).ring, c, deadline_of(world), payload).status;
}

/// Why the network cannot be asked for a put to `place` with a signal; ok when it can.
RAILSHMEM_HD inline ChannelStatus refusal_of_put_signal(const WorldView& world, const HeapPlace& place,
                                                        const HeapPlace& signal, SignalOp op, Peer peer) {
  ChannelStatus status = refusal(world, place, peer.pe);
  if (status == ChannelStatus::ok) status = refusal(world, signal, peer.pe);
  if (status == ChannelStatus::ok && op == SignalOp::add && is_promised(signal, peer)) status = ChannelStatus::promised;
  return status;
}
RAILSHMEM_HD inline Command put_signal_command(const WorldView& world, CommandOp put, const HeapPlace& place,
                                               uint64_t nbytes, const HeapPlace& signal, uint64_t value, SignalOp op,
                                               Peer peer) {
  Command c = command_to(world, put, place, nbytes, peer);
  c.signal_segment = static_cast<uint8_t>(signal.heap->segment);
  c.signal_offset = signal.offset;
  c.signal_value = value;
  c.signal_op = op;
  return c;
}

RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus put_signal_far(const WorldView& world, const HeapPlace& place,
                                                                       const void* source, uint64_t nbytes,
                                                                       const HeapPlace& signal, uint64_t value,
                                                                       SignalOp op, RAILSHMEM_STRUCT(Peer) peer,
                                                                       Payload payload, Completion completion) {
  ChannelStatus status = refusal_of_put_signal(world, place, signal, op, peer);
  if (status != ChannelStatus::ok) return status;
  Command c = put_signal_command(world, CommandOp::put_signal, place, nbytes, signal, value, op, peer);
  if (nbytes <= kInlineBytes) {
    c.op = CommandOp::put_inline_signal;
    c.value = load_value(source, nbytes);
    return issue(world, c, Payload::released);  // nothing is left in memory that the NIC would read
  }
  if (!portable::is_global(source)) {
    status = put_pieces(world, c, source, nbytes);
    if (status == ChannelStatus::ok) status = wait_for_channel(world);  // commands may pass each other on the way
    return status == ChannelStatus::ok
               ? signal_by(world, signal, value, op, peer, Payload::released, threads::block_in_grid())
               : status;
  }
  c.local = address_of(source);
  const ChannelView& channel = my_channel(world);
  return end_of(world, channel, push(channel.ring, c, deadline_of(world), payload_to(peer, payload)), completion);
}

/// Where the signal is if this GPU can update it by itself; else not near.
RAILSHMEM_HD inline NearPlace near_signal(const WorldView& world, const uint64_t* signal, SignalOp op, Peer peer) {
  const bool declared = op == SignalOp::set || peer.direct_atomics;
  return near_word(world, signal, sizeof *signal, peer.pe, declared);
}

/// putmem_signal() where near_place() does not know the data or the signal.
template <class Scope>
RAILSHMEM_HD RAILSHMEM_OUT_OF_LINE inline ChannelStatus put_signal_elsewhere(const WorldView& world, void* dest,
                                                                             const void* source, uint64_t nbytes,
                                                                             uint64_t* signal, uint64_t value,
                                                                             SignalOp op, RAILSHMEM_STRUCT(Peer) peer,
                                                                             Payload payload, Completion completion) {
  const HeapPlace target = reach(world, signal, peer.pe);
  const HeapPlace place = nbytes == 0 ? target : reach(world, dest, peer.pe);
  if (world.check != 0) {
    ChannelStatus wrong = check_range(world, target, sizeof *signal, peer.pe);
    if (wrong == ChannelStatus::ok) wrong = check_range(world, place, nbytes, peer.pe);
    if (wrong != ChannelStatus::ok) return wrong;
  }
  if (nbytes != 0) {
    if (place.here == nullptr && (target.heap != nullptr || target.here == nullptr)) {
      // In one slot, so that the slot's command brings the signal.
      if constexpr (kStoresInSlots<Scope>) {
        if (nbytes > kInlineBytes && nbytes <= payload_nbytes(Scope::kPayloadSize) &&
            refusal_of_put_signal(world, place, target, op, peer) == ChannelStatus::ok &&
            goes_by_slots<Scope>(world, my_channel(world), source, nbytes)) {
          SlotPut put{put_signal_command(world, CommandOp::put_payload_signal, place, nbytes, target, value, op, peer),
                      source};
          return put_by_slots<Scope>(world, put);
        }
      }
      return Scope::leads() ? put_signal_far(world, place, source, nbytes, target, value, op, peer, payload, completion)
                            : ChannelStatus::ok;
    }
    ChannelStatus status = ChannelStatus::ok;
    if (place.here != nullptr) {
      copy_by<Scope>(place.here, source, nbytes);
    } else if (Scope::leads()) {  // the signal is in memory of the caller's own, which no proxy knows
      status = put_far(world, place, source, nbytes, peer, payload, Completion::later);
      if (status == ChannelStatus::ok) status = wait_for_channel(world);
    }
    Scope::sync();
    if (status != ChannelStatus::ok) return status;
  }
  if (!Scope::leads()) return ChannelStatus::ok;
  if (!is_direct(target, op, peer)) {
    // Data that was stored comes before the signal. Without data the signal orders nothing.
    return signal_by(world, target, value, op, peer, nbytes == 0 ? Payload::released : Payload::written,
                     threads::block_in_grid());
  }
  update_signal(reinterpret_cast<uint64_t*>(target.here), value, op);
  return ChannelStatus::ok;
}

/// The target sees the data of this put no later than its signal. nbytes 0: only the signal. now: returns when `source`
/// may be reused.
template <class Scope = ThreadScope>
RAILSHMEM_HD inline ChannelStatus putmem_signal(const WorldView& world, void* dest, const void* source, uint64_t nbytes,
                                                uint64_t* signal, uint64_t value, SignalOp op, Peer peer,
                                                Completion completion, Payload payload = Payload::written) {
  const NearPlace flag = near_signal(world, signal, op, peer);
  const NearPlace target = near_place(world, nbytes == 0 ? signal : dest, nbytes, peer.pe);
  ChannelStatus status = ChannelStatus::ok;
  if (!flag.near || !target.near) {
    status =
        put_signal_elsewhere<Scope>(world, dest, source, nbytes, signal, value, op, Peer(peer), payload, completion);
  } else {
    if (nbytes != 0) {
      copy_by<Scope>(target.here, source, nbytes);
      Scope::sync();
    }
    if (Scope::leads()) update_signal(reinterpret_cast<uint64_t*>(flag.here), value, op);
  }
  if (completion == Completion::now) Scope::sync();
  return status;
}

/// A signal alone. A signal orders nothing, like any atomic operation; the program puts a fence between data and the
/// signal that announces it.
RAILSHMEM_HD inline ChannelStatus signal_update(const WorldView& world, uint64_t* signal, uint64_t value, SignalOp op,
                                                Peer peer) {
  const NearPlace flag = near_signal(world, signal, op, peer);
  if (!flag.near) {
    return put_signal_elsewhere<ThreadScope>(world, signal, nullptr, 0, signal, value, op, Peer(peer), Payload::written,
                                             Completion::later);
  }
  apply_amo(reinterpret_cast<uint64_t*>(flag.here), op == SignalOp::add ? AmoOp::add : AmoOp::set, value, uint64_t{0});
  return ChannelStatus::ok;
}

}  // namespace device
}  // namespace railshmem

#endif
