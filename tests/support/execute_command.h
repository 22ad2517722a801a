// SPDX-License-Identifier: BSD-3-Clause
// What a network would do with a command, for a far PE whose heap is mapped in this process.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "include/shmem/device/signal.h"
#include "src/channel/channel.h"

namespace railshmem {

template <class T>
void execute_amo(const Command& c, unsigned char* remote) {
  const T old =
      device::apply_amo(reinterpret_cast<T*>(remote), c.amo_op, static_cast<T>(c.value), static_cast<T>(c.compare));
  if (c.local != 0) std::memcpy(reinterpret_cast<void*>(c.local), &old, sizeof old);
}

/// `heap` is the segment that `c` names of the PE that it names, `signal_heap` that of the signal.
inline void execute_command(const Command& c, unsigned char* heap, unsigned char* signal_heap) {
  if (c.op == CommandOp::fence) return;
  unsigned char* const remote = heap + c.remote_offset;
  auto* const local = reinterpret_cast<unsigned char*>(c.local);
  if (c.op == CommandOp::put || c.op == CommandOp::put_signal) std::memcpy(remote, local, c.nbytes);
  if (c.op == CommandOp::put_inline || c.op == CommandOp::put_inline_signal) std::memcpy(remote, &c.value, c.nbytes);
  if (c.op == CommandOp::get) std::memcpy(local, remote, c.nbytes);
  if (c.op == CommandOp::amo && c.nbytes == 4) execute_amo<uint32_t>(c, remote);
  if (c.op == CommandOp::amo && c.nbytes == 8) execute_amo<uint64_t>(c, remote);
  const bool signals =
      c.op == CommandOp::signal || c.op == CommandOp::put_signal || c.op == CommandOp::put_inline_signal;
  if (signals) {
    device::update_signal(reinterpret_cast<uint64_t*>(signal_heap + c.signal_offset), c.signal_value, c.signal_op);
  }
}

/// Turns a command whose data is in a payload slot into one that has the data's address. False: its data is elsewhere.
inline bool find_payload(const Channel& channel, Command& c) {
  if (c.op != CommandOp::put_payload && c.op != CommandOp::put_payload_signal) return false;
  std::byte* const data = channel.payload(c);
  if (data == nullptr) std::abort();
  c.op = c.op == CommandOp::put_payload ? CommandOp::put : CommandOp::put_signal;
  c.local = reinterpret_cast<uintptr_t>(data);
  return true;
}

/// Turns a get into a get slot into one that has the slot's address. False: it uses no slot.
inline bool find_get_slot(const Channel& channel, Command& c) {
  if (c.op != CommandOp::get_payload) return false;
  std::byte* const place = channel.get_place(c);
  if (place == nullptr) std::abort();
  c.op = CommandOp::get;
  c.local = reinterpret_cast<uintptr_t>(place);
  return true;
}

inline void execute_command(const Command& c, unsigned char* heap) {
  execute_command(c, heap, heap);
}

}  // namespace railshmem
