// SPDX-License-Identifier: BSD-3-Clause
// The proxy endpoint of PE 1 over rails that the test plays itself: requests come in, flushes go out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "src/proxy/flush/flush_gate.h"
#include "src/proxy/flush/flush_memory.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {

/// Opens every rail anew at once.
struct FakeKeeper final : RailKeeper {
  std::vector<std::byte> reopen(Port, size_t r) override {
    reopened.push_back(r);
    if (r >= lost.size()) lost.resize(r + 1);
    lost[r] = (*rails)[r].posted.size();
    return {std::byte{1}};
  }
  uint32_t learn(Port, int, std::span<const std::byte>) override {
    ++learned;
    return 0;
  }
  void limit_silence(Port, size_t, std::span<const int>, unsigned) noexcept override {}
  void cut(Port, size_t, std::span<const int>) noexcept override {}
  bool outage(Port, size_t) noexcept override { return true; }
  void mended(Port, size_t) noexcept override {}
  uint32_t without_link(uint64_t) noexcept override { return 0; }
  uint32_t rails_to(int, size_t) override { return 0; }

  const std::vector<ScriptedRail>* rails = nullptr;
  std::vector<size_t> reopened;
  std::vector<size_t> lost;  ///< by rail: posts before it was opened anew, of which no event tells
  int learned = 0;
};

struct FlushRig {
  static constexpr int kMe = 1;
  static constexpr uint64_t kOffset = 64;  ///< of the flush word

  explicit FlushRig(FlushPolicy policy, size_t count = 1, size_t cells = 16, Tuning tuning = {},
                    const DeviceFlush* device = nullptr, double timeout_s = 60)
      : rails(count), seen_(count), looped_(count) {
    keeper.rails = &rails;
    InitiatorConfig config{Port::proxy, kMe, 4, cells, tuning, &keeper};
    config.proves_rails = true;
    config.news = &news;
    initiator.emplace(std::span(rails), config);
    const Segment segments[] = {{SegmentId::heap, reinterpret_cast<std::byte*>(memory.data()), sizeof memory}};
    responder.emplace(*initiator, segments, 4);
    lines.make(
        count, [](auto) {}, [](auto) {});
    gate.emplace(*initiator, *responder, FlushPlan{policy, device, SegmentId::heap, kOffset, lines.bytes(), timeout_s});
  }

  /// What ProxySide does.
  void pass() {
    initiator->poll([this](size_t r, const std::byte* bytes, size_t n) { gate->arrive(r, bytes, n); });
    if (gate->holds()) gate->step();
    if (responder->owes_answers()) responder->flush(gate->counts());
  }
  void passes(int n) {
    for (int i = 0; i < n; ++i) pass();
  }

  static MessageHeader header(MessageKind kind, int pe, uint32_t sequence) {
    return {kind, 0, 8, Answer::acknowledge, Port::host, SegmentId::heap, 0, pe, kNoCell, sequence, 0};
  }
  /// PE 2's next request: adds 1 to memory[0].
  void add(size_t r) {
    AmoMessage message{header(MessageKind::amo, 2, next_++), 0, 1, 0};
    message.header.op = static_cast<uint8_t>(AmoOp::add);
    rails[r].deliver(message);
  }

  /// What was posted on rail `r`, messages apart: "wr".
  std::string accesses(size_t r) const {
    std::string out;
    for (const auto& p : rails[r].posted)
      if (p.what != 's') out += p.what;
    return out;
  }
  size_t answers() const {
    size_t n = 0;
    for (const ScriptedRail& rail : rails)
      for (const auto& p : rail.posted) n += p.what == 's' && p.to.pe == 2;
    return n;
  }
  /// Completes what is posted on rail `r` since the last call, of one kind or of any.
  int complete(size_t r, char only = 0) {
    int n = 0;
    if (r < keeper.lost.size()) seen_[r] = std::max(seen_[r], keeper.lost[r]);
    for (; seen_[r] < rails[r].posted.size(); ++seen_[r]) {
      const auto& p = rails[r].posted[seen_[r]];
      if (p.slot == nullptr || (only != 0 && p.what != only)) continue;
      rails[r].complete(p.slot);
      ++n;
    }
    return n;
  }
  /// Messages to this PE itself arrive on the rail that carried them. Other PEs claim to have executed nothing.
  void loop(size_t r) {
    for (; looped_[r] < rails[r].posted.size(); ++looped_[r]) {
      const auto& p = rails[r].posted[looped_[r]];
      if (p.what != 's') continue;
      const auto asked = read_message<MessageHeader>(p.bytes.data());
      if (p.to.pe == kMe) {
        rails[r].deliver_bytes(p.bytes);
      } else if (asked.kind == MessageKind::inquiry) {
        AccountMessage account{header(MessageKind::account, p.to.pe, 0), {}};
        account.header.cell = asked.cell;
        rails[r].deliver(account);
      }
    }
  }
  OpSlot* last_slot(size_t r) const { return rails[r].posted.back().slot; }

  std::array<uint64_t, 16> memory{};
  FakeKeeper keeper;
  PeerNews news{ports_with(1)};
  std::vector<ScriptedRail> rails;
  FlushMemory lines;
  std::optional<Initiator<ScriptedRail>> initiator;
  std::optional<Responder<ScriptedRail>> responder;
  std::optional<FlushGate<ScriptedRail>> gate;

 private:
  uint32_t next_ = 0;
  std::vector<size_t> seen_;
  std::vector<size_t> looped_;
};

}  // namespace railshmem::test
