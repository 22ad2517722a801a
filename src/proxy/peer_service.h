// SPDX-License-Identifier: BSD-3-Clause
// What the first proxy thread does for peers: executes their requests behind a flush, and answers.
#pragma once

#include <cstddef>
#include <span>

#include "src/observe/observer.h"
#include "src/plugin/segment.h"
#include "src/proxy/flush/flush_gate.h"
#include "src/proxy/flush/flush_plan.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/target/responder.h"

namespace railshmem {

template <Rail R>
class PeerService {
 public:
  /// `staging` may be null: rails reach all memory.
  PeerService(Initiator<R>& initiator, std::span<const Segment> segments, int npes, observe::Observer* observer,
              const FlushPlan& flush, StagingPart* staging)
      : responder_(initiator, segments, npes, observer, staging), gate_(initiator, responder_, flush) {}
  PeerService(const PeerService&) = delete;  // the gate holds the responder's address

  void arrive(size_t r, const std::byte* bytes, size_t nbytes) noexcept { gate_.arrive(r, bytes, nbytes); }
  /// After a look at all rails. True when something moved.
  bool step() noexcept {
    bool moved = gate_.holds() && gate_.step();
    if (responder_.owes_answers()) moved |= responder_.flush(gate_.counts());
    return moved;
  }

  /// Whether requests wait for a flush.
  bool holds() const noexcept { return gate_.holds(); }
  bool owes_answers() const noexcept { return responder_.owes_answers(); }
  /// From now on; not while anybody steps.
  void use_flush(const FlushPlan& plan) { gate_.use(plan); }

 private:
  Responder<R> responder_;
  FlushGate<R> gate_;
};

}  // namespace railshmem
