// SPDX-License-Identifier: BSD-3-Clause
// What a kernel asks its proxy to do, and its 64-byte form in the ring.
#ifndef SHMEM_DETAIL_COMMAND_H
#define SHMEM_DETAIL_COMMAND_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/amo.h"
#include "shmem/detail/portable.h"

namespace railshmem {

/// 0 is no operation, so that zeroed memory never decodes to one.
enum class CommandOp : uint8_t {
  none,
  put,                 ///< nbytes from local
  put_inline,          ///< the low nbytes (1..8) of value
  get,                 ///< nbytes into local
  put_signal,          ///< put, then the signal; nbytes 0: only the signal
  put_inline_signal,   ///< put_inline, then the signal
  signal,              ///< only the signal
  amo,                 ///< amo_op of width nbytes (4 or 8) with value and compare; a fetched value goes to local
  fence,               ///< commands to pe (kEveryPe: to any) after it are ordered behind those before it
  put_payload,         ///< nbytes from `local` bytes behind the begin of payload slot `value` (payload_name())
  put_payload_signal,  ///< put_payload, then the signal
  get_payload,         ///< nbytes to `local` bytes behind the begin of get slot `value`
};

/// One operation. Fields that an operation does not use are zero. Quiet needs no command: it waits for tickets.
struct Command {
  CommandOp op = CommandOp::none;
  AmoOp amo_op = AmoOp::fetch;
  SignalOp signal_op = SignalOp::set;
  uint8_t segment = 0;         ///< SegmentId of remote_offset; 4 bits
  uint8_t signal_segment = 0;  ///< SegmentId of signal_offset; 4 bits
  uint16_t context = 0;
  uint32_t pe = 0;             ///< 28 bits
  uint64_t nbytes = 0;         ///< 63 bits
  uint64_t remote_offset = 0;  ///< bytes from the segment's base; 63 bits
  uint64_t local = 0;          ///< address on this PE: source, destination or place of the fetched value
  uint64_t value = 0;          ///< inline value, AMO operand or name of a slot
  uint64_t compare = 0;
  uint64_t signal_offset = 0;  ///< 63 bits
  uint64_t signal_value = 0;
};

RAILSHMEM_HD constexpr bool operator==(const Command& a, const Command& b) {
  return a.op == b.op && a.amo_op == b.amo_op && a.signal_op == b.signal_op && a.segment == b.segment &&
         a.signal_segment == b.signal_segment && a.context == b.context && a.pe == b.pe && a.nbytes == b.nbytes &&
         a.remote_offset == b.remote_offset && a.local == b.local && a.value == b.value && a.compare == b.compare &&
         a.signal_offset == b.signal_offset && a.signal_value == b.signal_value;
}

/// One store of a GPU thread. Bit 63 of hi is the lap bit; lo is all payload.
struct alignas(16) Word {
  uint64_t lo, hi;
};

inline constexpr int kWordsPerSlot = 4;

/// One command. All four words are written on every lap: a skipped one would show the parity of two laps ago as fresh.
struct alignas(64) Slot {
  Word word[kWordsPerSlot];
};

static_assert(sizeof(Word) == 16 && sizeof(Slot) == 64, "a word is one 16-byte store, a slot one cache line");
static_assert(std::is_trivially_copyable<Command>::value && std::is_trivially_copyable<Slot>::value, "");

inline constexpr uint64_t kLapBit = uint64_t{1} << 63;

/// Lap bit that the slot of `ticket` carries once written: 1 on the first lap, because fresh rings are all zero.
RAILSHMEM_HD constexpr uint64_t lap_bit(uint64_t ticket, uint32_t log2_slots) {
  return ((ticket >> log2_slots) & 1) != 0 ? 0 : kLapBit;
}

namespace command_layout {
// Bits of word 2's hi half, from bit 0: op 4, amo_op 4, segment 4, signal_segment 4, signal_op 1, context 16, pe 28.
inline constexpr int kAmo = 4, kSegment = 8, kSignalSegment = 12, kSignalOp = 16, kContext = 17, kPe = 33;
inline constexpr uint64_t kNibble = 0xf, kPeMask = (uint64_t{1} << 28) - 1;
static_assert(kPe + 28 <= 63, "the lap bit stays free");
}  // namespace command_layout

inline constexpr uint32_t kMaxCommandPe = static_cast<uint32_t>(command_layout::kPeMask);
/// Only a CommandOp::fence may carry this number; a job has fewer PEs.
inline constexpr uint32_t kEveryPe = kMaxCommandPe;

/// `lap` is lap_bit() of the ticket. Fields are cut to their widths, so none can reach the lap bit or a neighbour.
RAILSHMEM_HD constexpr Slot encode(const Command& c, uint64_t lap) {
  using namespace command_layout;
  const uint64_t meta = (static_cast<uint64_t>(c.op) & kNibble) | (static_cast<uint64_t>(c.amo_op) & kNibble) << kAmo |
                        (c.segment & kNibble) << kSegment | (c.signal_segment & kNibble) << kSignalSegment |
                        (static_cast<uint64_t>(c.signal_op) & 1) << kSignalOp |
                        static_cast<uint64_t>(c.context) << kContext | (c.pe & kPeMask) << kPe;
  return Slot{{{c.local, (c.remote_offset & ~kLapBit) | lap},
               {c.value, (c.signal_offset & ~kLapBit) | lap},
               {c.compare, meta | lap},
               {c.signal_value, (c.nbytes & ~kLapBit) | lap}}};
}

/// Decodes field by field into the caller's object. Copying a command just made, in wider pieces than it was stored,
/// would wait until all those stores reach the cache: longer than all else that a proxy does with a command.
RAILSHMEM_HD constexpr void decode(const Slot& s, Command& c) {
  using namespace command_layout;
  const uint64_t meta = s.word[2].hi;
  c.op = static_cast<CommandOp>(meta & kNibble);
  c.amo_op = static_cast<AmoOp>(meta >> kAmo & kNibble);
  c.segment = static_cast<uint8_t>(meta >> kSegment & kNibble);
  c.signal_segment = static_cast<uint8_t>(meta >> kSignalSegment & kNibble);
  c.signal_op = static_cast<SignalOp>(meta >> kSignalOp & 1);
  c.context = static_cast<uint16_t>(meta >> kContext);
  c.pe = static_cast<uint32_t>(meta >> kPe & kPeMask);
  c.local = s.word[0].lo;
  c.remote_offset = s.word[0].hi & ~kLapBit;
  c.value = s.word[1].lo;
  c.signal_offset = s.word[1].hi & ~kLapBit;
  c.compare = s.word[2].lo;
  c.signal_value = s.word[3].lo;
  c.nbytes = s.word[3].hi & ~kLapBit;
}

RAILSHMEM_HD constexpr Command decode(const Slot& s) {
  Command c;
  decode(s, c);
  return c;
}

/// Whether every word is of this lap, so that nothing is torn or stale.
RAILSHMEM_HD constexpr bool is_whole(const Slot& s, uint64_t lap) {
  uint64_t mixed = 0;
  for (int i = 0; i < kWordsPerSlot; ++i) mixed |= s.word[i].hi ^ lap;
  return (mixed & kLapBit) == 0;
}

}  // namespace railshmem

#endif
