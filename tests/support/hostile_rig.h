// SPDX-License-Identifier: BSD-3-Clause
// PE 1 of a job of 4, over rails that the test plays itself: it gets whatever bytes the test delivers.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/proxy/staging/staging.h"
#include "src/proxy/staging/staging_terms.h"
#include "src/proxy/target/responder.h"
#include "tests/support/issue.h"
#include "tests/support/late_copier.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {

struct HostileOptions {
  size_t rails = 1;
  RailTraits shape{64, 1 << 20, 4096, false};
  Tuning tuning{};
  bool staged = false;              ///< rails do not reach the heap
  const LostPeers* lost = nullptr;  ///< peers that have died
};

struct HostileRig {
  static constexpr int kNpes = 4;
  static constexpr size_t kWords = 512;  ///< of this PE's heap
  static constexpr uint32_t kCells = 16;
  static constexpr size_t kPayloads = size_t{1} << 14;  ///< where the heap is staged
  static constexpr Nonce kNonce = Nonce::of(0x0000'5eed'1234'abcd);

  explicit HostileRig(size_t count = 1) : HostileRig(HostileOptions{.rails = count}) {}
  explicit HostileRig(const HostileOptions& options) : rails(options.rails) {
    for (ScriptedRail& rail : rails) rail.shape = options.shape;
    const auto kind = options.staged ? MemoryKind::staged : MemoryKind::host;
    const Segment segments[] = {{SegmentId::heap, reinterpret_cast<std::byte*>(heap.get()), kWords * 8, kind}};
    if (options.staged) {
      staging.emplace(
          segments, [](auto) { return std::make_unique<LateCopier>(5); }, options.tuning, rails.size(), ports_with(1),
          nullptr, kPayloads);
      StagingTerms terms{};
      staging->describe_to(terms);
      staging->learn_areas(std::vector<StagingTerms>(kNpes, terms));
    }
    initiator.emplace(std::span(rails), InitiatorConfig{.port = Port::proxy,
                                                        .pe = 1,
                                                        .npes = kNpes,
                                                        .cells = kCells,
                                                        .tuning = options.tuning,
                                                        .staging = staging ? &staging->source(Port::proxy) : nullptr,
                                                        .lost = options.lost,
                                                        .nonce = kNonce});
    responder.emplace(*initiator, segments, kNpes, nullptr, staging ? &staging->target() : nullptr);
    context = &initiator->add_context();
  }

  /// Of a message of the job, from PE 2.
  static MessageHeader header(MessageKind kind, Answer answer = Answer::none, uint8_t op = 0, uint8_t width = 0) {
    return {kind, op, width, answer, Port::host, SegmentId::heap, kNonce.high, 2, kNoCell, 0, kNonce.low};
  }
  static AmoMessage add(uint64_t offset = 0, uint32_t sequence = 0) {
    AmoMessage message{header(MessageKind::amo, Answer::acknowledge, static_cast<uint8_t>(AmoOp::add), 8), offset, 1,
                       0};
    message.header.sequence = sequence;
    return message;
  }
  static GetMessage get(uint32_t nbytes) { return {header(MessageKind::get, Answer::reply), 0, nbytes, 0}; }
  /// An answer to the request that was sent in `rails[0].posted[i]`.
  MessageHeader answer_to(size_t i, MessageKind kind) const {
    const auto asked = read_message<MessageHeader>(rails[0].posted.at(i).bytes.data());
    MessageHeader answer = header(kind);
    answer.cell = asked.cell;
    answer.sequence = asked.sequence;
    return answer;
  }

  template <class M>
  static std::vector<std::byte> bytes_of(const M& message, size_t more = 0) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&message);
    std::vector<std::byte> all(bytes, bytes + sizeof message);
    all.resize(all.size() + more, std::byte{0x5a});
    return all;
  }
  /// Delivers a message with `more` bytes behind its struct, and lets the PE act on it.
  template <class M>
  void deliver(const M& message, size_t more = 0) {
    deliver_bytes(bytes_of(message, more));
  }
  /// Memory tools see any access beyond these bytes, and any after the call.
  void deliver_bytes(const std::vector<std::byte>& bytes, size_t r = 0) {
    auto exact = std::make_unique<std::byte[]>(bytes.size());
    if (!bytes.empty()) std::memcpy(exact.get(), bytes.data(), bytes.size());
    rails[r].events.push_back({RailEvent::Kind::message, 0, nullptr, exact.get(), bytes.size(), nullptr});
    do {
      turn();
    } while (!rails[r].events.empty());
  }
  void turn() {
    for (int i = 0; i < 4; ++i)
      initiator->poll([this](size_t r, const std::byte* b, size_t n) { responder->execute(r, b, n); });
    responder->flush();
  }

  uint64_t dropped() { return initiator->rails().counts(0).refused; }
  /// Whether every word of the heap has its first value.
  bool untouched() const {
    for (size_t i = 0; i < kWords; ++i)
      if (heap[i] != 0) return false;
    return true;
  }
  Remote at(uint64_t offset) const { return {2, SegmentId::heap, offset}; }

  std::vector<ScriptedRail> rails;
  std::unique_ptr<uint64_t[]> heap = std::make_unique<uint64_t[]>(kWords);
  std::optional<Staging> staging;
  std::optional<Initiator<ScriptedRail>> initiator;
  std::optional<Responder<ScriptedRail>> responder;
  NetContext* context = nullptr;
};

}  // namespace railshmem::test
