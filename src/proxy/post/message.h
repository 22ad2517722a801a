// SPDX-License-Identifier: BSD-3-Clause
// What endpoints say to each other: plain structs, one per kind, all starting with a MessageHeader.
//
// Requests (amo, put_signal, signal, flag, get, staged_put, staged_get) go to a proxy endpoint, whose owner executes
// them. Answers (acknowledge, reply, replies, data) go back to the endpoint that asked, host or proxy. Five kinds keep
// rails going and may be lost: descriptor (how a rail is reached), ping and pong (whether it is alive), inquiry and
// account (what has arrived over a dead one). All PEs of a job run one build on one architecture (checked at start), so
// structs travel as they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "src/plugin/network.h"
#include "src/plugin/rail.h"

namespace railshmem {

enum class MessageKind : uint8_t {
  amo,
  put_signal,
  signal,
  flag,
  get,
  descriptor,
  staged_put,
  staged_get,
  acknowledge,
  reply,
  replies,
  data,
  ping,
  pong,
  inquiry,
  account
};
inline constexpr size_t kMessageKinds = 16;

constexpr bool is_request(MessageKind kind) noexcept {
  return kind < MessageKind::acknowledge || kind == MessageKind::ping || kind == MessageKind::inquiry;
}

/// What a ping says beside its question, in header.op. doubts: the sender doubts its other paths to this PE, so this PE
/// should check its own paths to the sender. no_link: the sender's rail number header.cell has no link.
enum class PingNews : uint8_t { none, doubts, no_link };

/// How the target answers a request. An acknowledgement names all requests of a source that were executed. A reply
/// brings one fetched value to the cell that waits for it.
enum class Answer : uint8_t { none, acknowledge, reply };

/// Requests that one endpoint may have unanswered at one target. The target remembers which of so many requests it has
/// executed, so a request that comes twice, over two rails, is executed once.
inline constexpr uint32_t kWindow = 256;

/// A random number that all messages of a job carry. Messages of other jobs, and of strangers who have not seen one of
/// this job, carry another one. 48 bits are what the header has room for: with 8 bytes more, a StagedMessage would not
/// be injected over tcp.
struct Nonce {
  uint32_t low = 0;
  uint16_t high = 0;

  static constexpr Nonce of(uint64_t random) noexcept {
    return {static_cast<uint32_t>(random), static_cast<uint16_t>(random >> 32)};
  }
  bool operator==(const Nonce&) const = default;
};

struct MessageHeader {
  MessageKind kind;
  uint8_t op;         ///< AmoOp, SignalOp or PingNews
  uint8_t width;      ///< bytes of the word: 4 or 8
  Answer answer;      ///< what the source expects
  Port port;          ///< endpoint of the source that sent this
  SegmentId segment;  ///< of the word
  uint16_t nonce_high;
  int32_t pe;         ///< of the source
  uint32_t cell;      ///< of the source; comes back in reply
  uint32_t sequence;  ///< counts the requests from this endpoint to this target; see Outbox and Inbox
  uint32_t nonce_low;

  Nonce nonce() const noexcept { return {nonce_low, nonce_high}; }
};

struct AmoMessage {
  MessageHeader header;
  uint64_t offset;
  uint64_t operand;
  uint64_t compare;
};

struct SignalMessage {
  MessageHeader header;
  uint64_t offset;
  uint64_t value;
};

/// The payload follows the struct.
struct PutSignalMessage {
  MessageHeader header;  ///< segment is the signal's
  uint64_t signal_offset;
  uint64_t value;
  uint64_t data_offset;
  uint32_t nbytes;
  SegmentId data_segment;
  uint8_t unused[3];
};

struct FlagMessage {
  MessageHeader header;
  uint64_t offset;
  uint64_t value;
};

/// A get where rails cannot read reliably (RailTraits::reads_may_fail). The answer is of kind data: the bytes follow a
/// MessageHeader.
struct GetMessage {
  MessageHeader header;
  uint64_t offset;
  uint32_t nbytes;
  uint32_t unused;
};

/// Every request before header.sequence was executed, and every later one whose bit is set; bit 0 is sequence + 1.
struct AcknowledgeMessage {
  MessageHeader header;
  uint64_t executed;
};

struct ReplyMessage {
  MessageHeader header;
  uint64_t value;
};

/// One of several replies to one endpoint; header.cell is their number.
struct ReplyItem {
  uint32_t cell;
  uint32_t sequence;
  uint64_t value;
};
inline constexpr size_t kMostReplies = 32;  // as many fetches as a warp makes at once

/// Says that a rail of the source was opened anew; the bytes that follow say how the rail is reached (see RailKeeper).
/// No answer may be able to go back yet, so the source sends the descriptor until a pong comes over the rail.
/// header.sequence counts the descriptors of the source's port, so that no descriptor replaces a later one.
struct DescriptorMessage {
  MessageHeader header;
  uint32_t nbytes;
  uint32_t rail;
};

/// Data between the final memory at the target (header.segment, offset) and a bounce slot of the source. With kNoSlot a
/// put's data follows this struct, and a get's data follows the MessageHeader of the answer.
struct StagedMessage {
  MessageHeader header;
  uint64_t offset;
  uint64_t slot;           ///< offset in the source's bounce area
  uint64_t signal_offset;  ///< this and other fields signal_*: where brings_signal
  uint64_t signal_value;
  uint32_t nbytes;
  SegmentId signal_segment;
  SignalOp signal_op;
  uint8_t brings_signal;  ///< 1: a put that signals when its data is there
  uint8_t unused;
};
inline constexpr uint64_t kNoSlot = ~uint64_t{0};

/// The answer to an inquiry: requests before header.sequence were executed, and later ones whose bit is set; bit 0 is
/// header.sequence itself. (ping, pong and inquiry consist of a header only.)
struct AccountMessage {
  MessageHeader header;
  uint64_t executed[kWindow / 64];
};

// An AMO, a signal and every answer must fit what providers inject (tcp;ofi_rxm: 64 bytes): no buffer, no completion.
static_assert(sizeof(MessageHeader) == 24 && sizeof(AmoMessage) == 48 && sizeof(SignalMessage) == 40);
static_assert(sizeof(PutSignalMessage) == 56 && sizeof(FlagMessage) == 40 && sizeof(GetMessage) == 40);
static_assert(sizeof(StagedMessage) == 64);
static_assert(sizeof(AcknowledgeMessage) == 32 && sizeof(ReplyMessage) == 32 && sizeof(AccountMessage) == 56);
static_assert(std::is_trivially_copyable_v<AmoMessage> && std::is_trivially_copyable_v<PutSignalMessage>);

/// Longest message ever sent, and the size of a cell's buffer: more would cost a page per cell without saving a trip.
inline constexpr size_t kMaxMessage = 4096;

/// Reads a struct from a receive buffer of any alignment.
template <class M>
requires std::is_trivially_copyable_v<M> M read_message(const std::byte* bytes)
noexcept {
  M message;
  std::memcpy(&message, bytes, sizeof message);
  return message;
}

/// Reads one field: read_at<uint64_t>(bytes + offsetof(AmoMessage, offset)). A copy of a struct in pieces of 16 bytes
/// would wait for the stores of whoever has just written it in smaller ones.
template <class T>
T read_at(const std::byte* from) noexcept {
  T field;
  std::memcpy(&field, from, sizeof field);
  return field;
}

/// The header, of which only those fields are loaded that the caller uses.
[[gnu::always_inline]] inline MessageHeader read_header(const std::byte* bytes) noexcept {
  return {read_at<MessageKind>(bytes + offsetof(MessageHeader, kind)),
          read_at<uint8_t>(bytes + offsetof(MessageHeader, op)),
          read_at<uint8_t>(bytes + offsetof(MessageHeader, width)),
          read_at<Answer>(bytes + offsetof(MessageHeader, answer)),
          read_at<Port>(bytes + offsetof(MessageHeader, port)),
          read_at<SegmentId>(bytes + offsetof(MessageHeader, segment)),
          read_at<uint16_t>(bytes + offsetof(MessageHeader, nonce_high)),
          read_at<int32_t>(bytes + offsetof(MessageHeader, pe)),
          read_at<uint32_t>(bytes + offsetof(MessageHeader, cell)),
          read_at<uint32_t>(bytes + offsetof(MessageHeader, sequence)),
          read_at<uint32_t>(bytes + offsetof(MessageHeader, nonce_low))};
}

}  // namespace railshmem
