// SPDX-License-Identifier: BSD-3-Clause
// Whether a message can be one of this job. Every message passes here before anything else looks at it, because whoever
// reaches a rail's port can send bytes, and bytes can be damaged.
//
// What depends on more than the job's shape is checked where that state is: the operation that waits for an answer
// (Requests::take_answer), the numbers of requests (Inbox), and the memory that requests name (TargetMemory::check).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/proxy/post/message.h"
#include "src/proxy/rails/path_table.h"

namespace railshmem {

/// Why a message is dropped.
enum class Flaw : uint8_t {
  none,
  length,    ///< does not fit the kind of message
  nonce,     ///< is not that of this job
  kind,      ///< unknown, or not for this endpoint
  sender,    ///< this job has no such PE or port
  field,     ///< an operation, width, kind of answer, segment or number that does not exist
  place,     ///< memory that this PE does not have
  answer,    ///< to no operation of this PE
  sequence,  ///< a number that no PE can have used yet
};

/// What this PE knows of its job.
struct MessageRules {
  Nonce nonce{};
  uint32_t npes = 0;
  uint32_t ports = 0;                ///< of each PE
  size_t max_message = kMaxMessage;  ///< the longest that this PE can send
};

/// Limits of the header's fields and of the length, for one kind of message.
struct MessageShape {
  uint16_t nbytes;  ///< of the struct
  bool is_whole;    ///< nothing follows the struct, and no other field needs a look
  uint8_t ops;      ///< header.op is less
  uint8_t answers;  ///< a bit for each allowed Answer
  uint16_t widths;  ///< a bit for each allowed width
};

namespace message_check {

constexpr uint8_t bit(Answer answer) noexcept {
  return static_cast<uint8_t>(1u << static_cast<unsigned>(answer));
}
constexpr uint8_t kNoAnswer = bit(Answer::none), kAcknowledge = bit(Answer::acknowledge), kReply = bit(Answer::reply);
constexpr uint16_t kWord = 1u << 8, kEitherWord = 1u << 4 | 1u << 8;
constexpr uint8_t kAmoOps = static_cast<uint8_t>(AmoOp::fetch_xor) + 1;
constexpr uint8_t kSignalOps = static_cast<uint8_t>(SignalOp::add) + 1;
constexpr uint8_t kPingNews = static_cast<uint8_t>(PingNews::no_link) + 1;
// Of fields that nobody reads in this kind of message.
constexpr uint8_t kAnyAnswer = kNoAnswer | kAcknowledge | kReply;
constexpr uint16_t kAnyWidth = 1u << 0 | kEitherWord;

/// By MessageKind.
inline constexpr std::array<MessageShape, kMessageKinds> kShapes = {{
    {sizeof(AmoMessage), true, kAmoOps, kAcknowledge | kReply, kEitherWord},
    {sizeof(PutSignalMessage), false, kSignalOps, kAcknowledge, kWord},
    {sizeof(SignalMessage), true, kSignalOps, kAcknowledge, kWord},
    {sizeof(FlagMessage), true, 1, kNoAnswer | kAcknowledge, kWord},
    {sizeof(GetMessage), false, 1, kReply, kAnyWidth},
    {sizeof(DescriptorMessage), false, 1, kAnyAnswer, kAnyWidth},
    {sizeof(StagedMessage), false, 1, kAcknowledge, kAnyWidth},  // staged_put
    {sizeof(StagedMessage), false, 1, kReply, kAnyWidth},        // staged_get
    {sizeof(AcknowledgeMessage), true, 1, kAnyAnswer, kAnyWidth},
    {sizeof(ReplyMessage), true, 1, kAnyAnswer, kAnyWidth},
    {sizeof(MessageHeader), false, 1, kAnyAnswer, kAnyWidth},          // replies
    {sizeof(MessageHeader), false, 1, kAnyAnswer, kAnyWidth},          // data
    {sizeof(MessageHeader), false, kPingNews, kAnyAnswer, kAnyWidth},  // ping
    {sizeof(MessageHeader), true, 1, kAnyAnswer, kAnyWidth},           // pong
    {sizeof(MessageHeader), true, 1, kAnyAnswer, kAnyWidth},           // inquiry
    {sizeof(AccountMessage), true, 1, kAnyAnswer, kAnyWidth},
}};

/// The length that settles it; 0: a closer look does.
inline constexpr std::array<uint8_t, kMessageKinds> kWholeLengths = [] {
  std::array<uint8_t, kMessageKinds> lengths{};
  for (size_t kind = 0; kind < kMessageKinds; ++kind)
    if (kShapes[kind].is_whole) lengths[kind] = static_cast<uint8_t>(kShapes[kind].nbytes);
  return lengths;
}();

inline bool is_segment(SegmentId id) noexcept {
  return static_cast<size_t>(id) < kSegments;
}

inline Flaw check_staged(const StagedMessage& m, size_t nbytes) noexcept {
  const bool puts = m.header.kind == MessageKind::staged_put;
  const size_t carried = puts && m.slot == kNoSlot ? m.nbytes : 0;
  if (m.nbytes == 0 || nbytes != sizeof m + carried) return Flaw::length;
  const bool signal_exists = is_segment(m.signal_segment) && static_cast<uint8_t>(m.signal_op) < kSignalOps;
  return m.brings_signal > puts || !signal_exists ? Flaw::field : Flaw::none;
}

/// The place in kCombinations of four fields that are all below 16, 16, 16 and 4. Widths are multiples of 4.
constexpr size_t combination(MessageKind kind, uint8_t op, uint8_t width, Answer answer) noexcept {
  return static_cast<size_t>(kind) | size_t{op} << 4 | size_t{width} >> 2 << 8 | static_cast<size_t>(answer) << 10;
}
/// Bits of the four fields that no field of a message has.
constexpr unsigned excess(MessageKind kind, uint8_t op, uint8_t width, Answer answer) noexcept {
  return ((static_cast<unsigned>(kind) | op) & 0xf0u) | (width & 0xf3u) | (static_cast<unsigned>(answer) & 0xfcu);
}
/// A bit for each combination of kind, op, width and answer that exists: what kShapes says, and that an atomic
/// operation is replied to where it fetches.
inline constexpr std::array<uint64_t, 64> kCombinations = [] {
  std::array<uint64_t, 64> bits{};
  for (size_t kind = 0; kind < kMessageKinds; ++kind)
    for (uint8_t op = 0; op < kShapes[kind].ops; ++op)
      for (const uint8_t width : {0, 4, 8})
        for (const Answer answer : {Answer::none, Answer::acknowledge, Answer::reply}) {
          if (!(kShapes[kind].widths >> width & 1) || !(kShapes[kind].answers & bit(answer))) continue;
          const auto k = static_cast<MessageKind>(kind);
          if (k == MessageKind::amo && amo_fetches(static_cast<AmoOp>(op)) != (answer == Answer::reply)) continue;
          const size_t at = combination(k, op, width, answer);
          bits[at / 64] |= uint64_t{1} << at % 64;
        }
  return bits;
}();
static_assert(kMessageKinds <= 16 && kAmoOps <= 16, "combination() has 4 bits for each");

inline bool fields_exist(const MessageHeader& h) noexcept {
  if (excess(h.kind, h.op, h.width, h.answer) != 0) return false;
  const size_t at = combination(h.kind, h.op, h.width, h.answer);
  return kCombinations[at / 64] >> at % 64 & 1;
}

/// Length and fields beyond kCombinations, of a message whose length alone does not settle it.
[[gnu::noinline]] inline Flaw check_rest(const MessageRules& rules, const std::byte* bytes, size_t nbytes) noexcept {
  const auto h = read_message<MessageHeader>(bytes);
  const auto fits = [](bool all) { return all ? Flaw::none : Flaw::length; };
  const MessageShape& shape = kShapes[static_cast<size_t>(h.kind)];
  if (nbytes < shape.nbytes || shape.is_whole) return Flaw::length;
  const size_t beyond = nbytes - shape.nbytes;
  switch (h.kind) {
    case MessageKind::put_signal: {
      const auto m = read_message<PutSignalMessage>(bytes);
      if (!is_segment(m.data_segment)) return Flaw::field;
      return fits(m.nbytes == beyond);
    }
    case MessageKind::get: {
      const size_t wanted = read_message<GetMessage>(bytes).nbytes;
      return fits(beyond == 0 && wanted > 0 && wanted <= rules.max_message - sizeof h);
    }
    case MessageKind::descriptor: {
      const auto m = read_message<DescriptorMessage>(bytes);
      if (m.rail >= kMostRails) return Flaw::field;
      return fits(m.nbytes == beyond);
    }
    case MessageKind::staged_put:
    case MessageKind::staged_get:
      return check_staged(read_message<StagedMessage>(bytes), nbytes);
    case MessageKind::replies:
      return fits(h.cell > 0 && h.cell <= kMostReplies && beyond == h.cell * sizeof(ReplyItem));
    case MessageKind::data:
      return fits(beyond > 0);
    case MessageKind::ping:
      if (beyond != 0) return Flaw::length;
      return h.op == static_cast<uint8_t>(PingNews::no_link) && h.cell >= kMostRails ? Flaw::field : Flaw::none;
    default:
      return fits(beyond == 0);
  }
}

/// Which flaw it is that check_message() has seen in the header.
[[gnu::cold, gnu::noinline]] inline Flaw flaw_of_header(const MessageRules& rules, const std::byte* bytes,
                                                        size_t nbytes) noexcept {
  const auto h = read_message<MessageHeader>(bytes);
  if (h.nonce() != rules.nonce) return Flaw::nonce;
  if (static_cast<size_t>(h.kind) >= kMessageKinds) return Flaw::kind;
  if (static_cast<uint32_t>(h.pe) >= rules.npes || static_cast<uint32_t>(h.port) >= rules.ports) return Flaw::sender;
  const MessageShape& shape = kShapes[static_cast<size_t>(h.kind)];
  return nbytes < shape.nbytes || (shape.is_whole && nbytes != shape.nbytes) ? Flaw::length : Flaw::field;
}

}  // namespace message_check

/// The first flaw that shows without the state of an operation. After `none` the message may be read as its kind says:
/// its structs and its payload are there, and its fields have values that exist. Most messages leave at the first
/// return of `none`, whose branches are never taken among PEs of the job.
[[nodiscard]] inline Flaw check_message(const MessageRules& rules, const std::byte* bytes, size_t nbytes) noexcept {
  if (nbytes < sizeof(MessageHeader) || nbytes > kMaxMessage) [[unlikely]]
    return Flaw::length;
  const MessageHeader h = read_header(bytes);
  // A negative number of a PE is a large one here.
  if (h.nonce() != rules.nonce || static_cast<uint32_t>(h.pe) >= rules.npes ||
      static_cast<uint32_t>(h.port) >= rules.ports || !message_check::is_segment(h.segment) ||
      !message_check::fields_exist(h)) [[unlikely]]
    return message_check::flaw_of_header(rules, bytes, nbytes);
  if (nbytes == message_check::kWholeLengths[static_cast<size_t>(h.kind)]) [[likely]]
    return Flaw::none;
  return message_check::check_rest(rules, bytes, nbytes);
}

}  // namespace railshmem
