// SPDX-License-Identifier: BSD-3-Clause
// Put and get: by load and store where the peer is mapped, else by a command. All called by one thread.
#ifndef SHMEM_DEVICE_RMA_H
#define SHMEM_DEVICE_RMA_H

#include <stdint.h>

#include "shmem/detail/copy.h"
#include "shmem/device/issue.h"

namespace railshmem {
namespace device {

inline constexpr uint64_t kInlineBytes = 8;  // what a command's value holds

/// `source` must stay untouched until quiet.
RAILSHMEM_HD inline ChannelStatus putmem_nbi(const WorldView& world, void* dest, const void* source, uint64_t nbytes,
                                             int pe, Payload payload = Payload::written) {
  if (nbytes == 0) return ChannelStatus::ok;
  if (unsigned char* const peer = peer_heap(world, pe)) {
    copy_bytes(peer + heap_offset(world, dest), source, nbytes);
    return ChannelStatus::ok;
  }
  Command c = command_to(world, CommandOp::put, dest, nbytes, pe);
  if (nbytes <= kInlineBytes) {
    c.op = CommandOp::put_inline;
    c.value = load_value(source, nbytes);
    payload = Payload::released;  // nothing is left in memory that the NIC would read
  } else {
    c.local = address_of(source);
  }
  return issue(world, c, payload);
}

/// Returns when `source` may be reused.
RAILSHMEM_HD inline ChannelStatus putmem(const WorldView& world, void* dest, const void* source, uint64_t nbytes,
                                         int pe, Payload payload = Payload::written) {
  if (nbytes <= kInlineBytes || peer_heap(world, pe) != nullptr) {
    return putmem_nbi(world, dest, source, nbytes, pe, payload);
  }
  Command c = command_to(world, CommandOp::put, dest, nbytes, pe);
  c.local = address_of(source);
  return issue_and_wait(world, c, payload);
}

/// One value of up to 8 bytes; it travels in the command.
template <class T>
RAILSHMEM_HD inline ChannelStatus p(const WorldView& world, T* dest, T value, int pe) {
  static_assert(sizeof(T) <= kInlineBytes && std::is_trivially_copyable<T>::value, "one element, moved as bytes");
  return putmem_nbi(world, dest, &value, sizeof value, pe);
}

/// `dest` is undefined until quiet; the network must be able to write it (symmetric or registered memory).
RAILSHMEM_HD inline ChannelStatus getmem_nbi(const WorldView& world, void* dest, const void* source, uint64_t nbytes,
                                             int pe) {
  if (nbytes == 0) return ChannelStatus::ok;
  if (const unsigned char* const peer = peer_heap(world, pe)) {
    copy_bytes(dest, peer + heap_offset(world, source), nbytes);
    return ChannelStatus::ok;
  }
  Command c = command_to(world, CommandOp::get, source, nbytes, pe);
  c.local = address_of(dest);
  return issue(world, c, Payload::written);
}

/// Returns with the data.
RAILSHMEM_HD inline ChannelStatus getmem(const WorldView& world, void* dest, const void* source, uint64_t nbytes,
                                         int pe) {
  if (nbytes == 0 || peer_heap(world, pe) != nullptr) return getmem_nbi(world, dest, source, nbytes, pe);
  Command c = command_to(world, CommandOp::get, source, nbytes, pe);
  c.local = address_of(dest);
  return issue_and_wait(world, c, Payload::written);
}

}  // namespace device
}  // namespace railshmem

#endif
