// SPDX-License-Identifier: BSD-3-Clause
// One PE with a staged heap, over two rails that the test plays itself.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/base/cpu.h"
#include "src/proxy/staging/staging.h"
#include "src/proxy/target/responder.h"
#include "tests/support/issue.h"
#include "tests/support/late_copier.h"
#include "tests/support/scripted_rail.h"

namespace railshmem::test {

/// Slots of 8 KiB, one per rail; failures are dealt with at once.
inline Tuning staged_tuning() {
  Tuning tuning;
  tuning.staging_chunk = 8192;
  tuning.staging_depth = 1;
  tuning.rail_timeout_ns = 400'000'000;  // a look, and pings, every eighth of it
  tuning.quarantine_ns = 1'000'000;
  return tuning;
}

struct StagedRig {
  static constexpr size_t kHeap = 1 << 16;
  static constexpr size_t kPayloads = 1 << 17;  ///< bytes for what kernels put

  /// By default rails copy nothing: each message leaves an event.
  StagedRig(Port port, int pe, const RailTraits& shape = {0, 1 << 20, 4096, false}) {
    for (ScriptedRail& rail : rails) rail.shape = shape;
    for (size_t i = 0; i < heap.size() * 8; ++i) base()[i] = static_cast<std::byte>(i * 31 + (i >> 8) * 7);
    const Segment segment{SegmentId::heap, base(), kHeap, MemoryKind::staged};
    staging.emplace(
        std::span(&segment, 1), [](auto) { return std::make_unique<LateCopier>(5); }, staged_tuning(), rails.size(),
        ports_with(1), nullptr, kPayloads);
    initiator.emplace(std::span(rails),
                      InitiatorConfig{port, pe, 4, 64, staged_tuning(), nullptr, &staging->source(port)});
    responder.emplace(*initiator, std::span(&segment, 1), 4, nullptr, &staging->target());
  }

  std::byte* base() { return reinterpret_cast<std::byte*>(heap.data()); }
  void turn() {
    initiator->poll([this](size_t r, const std::byte* bytes, size_t nbytes) { responder->execute(r, bytes, nbytes); });
    responder->flush();
  }
  void turns(int n = 200) {
    for (int i = 0; i < n; ++i) turn();
  }
  void until(const std::function<bool()>& done) {
    const uint64_t began = now_ns();
    while (!done()) {
      ASSERT_LT(now_ns() - began, 5'000'000'000u) << initiator->describe_outstanding();
      turn();
    }
  }

  void complete(size_t r, size_t i) { rails[r].complete(rails[r].posted[i].slot); }
  void fail(size_t r, size_t i) {
    rails[r].events.push_back({RailEvent::Kind::failed, -5, rails[r].posted[i].slot, nullptr, 0, nullptr});
  }
  MessageKind kind(size_t r, size_t i) { return read_message<MessageHeader>(rails[r].posted[i].bytes.data()).kind; }
  /// Positions in rails[r].posted of the messages of this kind.
  std::vector<size_t> messages(size_t r, MessageKind wanted) {
    std::vector<size_t> found;
    for (size_t i = 0; i < rails[r].posted.size(); ++i)
      if (rails[r].posted[i].what == 's' && kind(r, i) == wanted) found.push_back(i);
    return found;
  }
  size_t rail_of(MessageKind wanted) { return messages(0, wanted).empty() ? 1 : 0; }

  std::vector<uint64_t> heap = std::vector<uint64_t>(kHeap / 8);
  std::vector<ScriptedRail> rails = std::vector<ScriptedRail>(2);
  std::optional<Staging> staging;
  std::optional<Initiator<ScriptedRail>> initiator;
  std::optional<Responder<ScriptedRail>> responder;
};

}  // namespace railshmem::test
