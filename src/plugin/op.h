// SPDX-License-Identifier: BSD-3-Clause
// One operation of the network: the plain value that the API, or the decoder of a kernel's ring, makes once. It goes
// from layer to layer by issue(), until a rail takes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "include/shmem/detail/amo.h"
#include "src/plugin/segment.h"

namespace railshmem {

class Channel;

/// The completion counts of one OpenSHMEM context: what its quiet waits for. Made and owned by the network.
class NetContext;

enum class OpKind : uint8_t {
  none,
  put,
  get,
  put_signal,
  signal,
  amo,
  flag,
  // The rest is made inside the network.
  answer,
  flush,
  quiet,
  fence,
  staged_put,
  staged_get,
  staged_piece
};

/// When the memory at Op::local is the caller's again.
enum class Local : uint8_t {
  lent,     ///< when the operation is complete
  awaited,  ///< when the call returns: the source may change, fetched data is there
  copied,   ///< when a rail has accepted the operation: the source is copied
  ours      ///< never: memory of the library, which the CPU reads; copied, too
};

/// How an operation travels; Initiator::choose_route() chooses.
enum class Route : uint8_t {
  open,     ///< not chosen yet
  whole,    ///< one write or read, over one rail; a signal follows
  pieces,   ///< several writes, reads or requests for data, over all rails; a signal follows
  held,     ///< one write that may wait for the next write of a batch
  message,  ///< a message that the target's proxy executes
  staged    ///< through slots of memory that rails reach
};

struct NetAmo {
  AmoOp op;
  uint8_t width;  ///< 4 or 8 bytes
  uint64_t operand;
  uint64_t compare;
};

struct NetSignal {
  SegmentId segment;
  uint64_t offset;
  uint64_t value;
  SignalOp op;
};

/// Who hears of an operation's end: a blocked call, the producer of a channel's command, or nobody.
struct Outcome {
  bool* done = nullptr;        ///< of a blocked call: set by notify(), read by is_told()
  Channel* channel = nullptr;  ///< of a command
  uint64_t ticket = 0;         ///< in the channel
  uint32_t payload = 0;        ///< Payloads::hold_of() where payload slots hold the command's data; 0: none
};

/// What a put does not have is not set, and a copy is made field by field, so that a put can stay in registers where
/// only copies of it are handed on: a proxy thread makes tens of millions a second.
struct Op {
  Op() noexcept = default;
  [[gnu::always_inline]] Op(const Op& other) noexcept { *this = other; }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): field by field, so that nothing is lost
  [[gnu::always_inline]] Op& operator=(const Op& other) noexcept {
    kind = other.kind;
    use = other.use;
    route = other.route;
    is_direct = other.is_direct;
    local_is_far = other.local_is_far;
    across_pieces = other.across_pieces;
    context = other.context;
    remote.pe = other.remote.pe;
    remote.segment = other.remote.segment;
    remote.offset = other.remote.offset;
    local = other.local;
    nbytes = other.nbytes;
    outcome.done = other.outcome.done;
    outcome.channel = other.outcome.channel;
    outcome.ticket = other.outcome.ticket;
    outcome.payload = other.outcome.payload;
    // GCC does not see that operations of the other kinds have set it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
    if (kind != OpKind::put && kind != OpKind::get) detail = other.detail;
#pragma GCC diagnostic pop
    return *this;
  }
  [[gnu::always_inline]] Op(OpKind k, Local u, NetContext* waits, Remote place, const void* memory, size_t n) noexcept
      : kind(k),
        use(u),
        context(waits),
        remote{place.pe, place.segment, place.offset},
        local(static_cast<std::byte*>(const_cast<void*>(memory))),
        nbytes(n) {}

  OpKind kind = OpKind::none;
  Local use = Local::lent;
  Route route = Route::open;
  // Chosen with the route.
  bool is_direct = false;     ///< rails reach both ends, of which one or both are GPU memory or slots of staging
  bool local_is_far = false;  ///< `local` is GPU memory: no CPU reads or writes it
  /// The operation goes in parts, because rails know one end or both in extents; `remote` is then the program's place.
  bool across_pieces = false;

  NetContext* context = nullptr;  ///< null: no context waits for this operation
  Remote remote;
  std::byte* local = nullptr;  ///< source of a put, destination of a get, place of a fetched value
  size_t nbytes = 0;           ///< of a put or get more than 0
  Outcome outcome{};
  union Detail {
    NetSignal signal;  ///< of a put_signal or signal
    NetAmo amo;        ///< of an AMO; of a flag, `operand` is its value
  } detail;

  bool local_is_ours() const noexcept {
    return use == Local::ours;
  }
  /// Whether the source may change once a rail has accepted the operation.
  bool is_copied() const noexcept {
    return use >= Local::copied;
  }
  /// Whether data goes to the peer.
  bool puts() const noexcept {
    return kind == OpKind::put || kind == OpKind::put_signal;
  }
};

[[gnu::always_inline]] inline Op put_op(NetContext& context, Remote to, const void* source, size_t nbytes,
                                        Local use) noexcept {
  return {OpKind::put, use, &context, to, source, nbytes};
}
[[gnu::always_inline]] inline Op get_op(NetContext& context, Remote from, void* dest, size_t nbytes,
                                        Local use) noexcept {
  return {OpKind::get, use, &context, from, dest, nbytes};
}
/// Data first, then the signal, in the target's memory. nbytes may be 0: only the signal, to PE `to.pe`.
[[gnu::always_inline]] inline Op put_signal_op(NetContext& context, Remote to, const void* source, size_t nbytes,
                                               const NetSignal& signal, Local use) noexcept {
  Op op(nbytes > 0 ? OpKind::put_signal : OpKind::signal, use, &context, to, source, nbytes);
  op.detail.signal = signal;
  return op;
}
/// `fetch` receives the old value of a fetching operation, amo.width bytes; otherwise it is null.
[[gnu::always_inline]] inline Op amo_op(NetContext& context, Remote to, const NetAmo& amo, void* fetch,
                                        Local use) noexcept {
  Op op(OpKind::amo, use, &context, to, fetch, amo.width);
  op.detail.amo = amo;
  return op;
}
/// A flag of the library: the target raises 8 bytes to `value`. No context waits for it.
[[gnu::always_inline]] inline Op flag_op(Remote to, uint64_t value) noexcept {
  Op op(OpKind::flag, Local::lent, nullptr, to, nullptr, sizeof value);
  op.route = Route::message;
  op.detail.amo = {AmoOp::set, sizeof value, value, 0};
  return op;
}

}  // namespace railshmem
