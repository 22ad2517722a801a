// SPDX-License-Identifier: BSD-3-Clause
// Stands between the rails and the responder: a peer's request is executed only after a flush that began behind it.
#pragma once

#include "src/proxy/failover/inquiries.h"
#include "src/proxy/flush/flusher.h"
#include "src/proxy/flush/held_requests.h"
#include "src/proxy/post/message.h"
#include "src/proxy/target/responder.h"

namespace railshmem {

/// With policy none it is open: requests pass at once.
template <Rail R>
class FlushGate {
 public:
  FlushGate(Initiator<R>& initiator, Responder<R>& responder, const FlushPlan& plan)
      : responder_(responder), flusher_(initiator, plan), open_(plan.policy == FlushPolicy::none) {
    prepare();
  }

  /// From now on; not while anybody steps.
  void use(const FlushPlan& plan) {
    flusher_.use(plan);
    open_ = plan.policy == FlushPolicy::none;
    prepare();
  }

  /// A message that has passed check_message().
  void arrive(size_t r, const std::byte* bytes, size_t nbytes) noexcept {
    if (open_ || passes(bytes)) [[likely]]
      return responder_.execute(r, bytes, nbytes);
    arrived_.add(r, bytes, nbytes);
    ++counts_.arrived;
  }

  bool holds() const noexcept { return counts_.executed != counts_.arrived; }
  bool flushes() const noexcept { return flusher_.running(); }
  const ArrivalCounts& counts() const noexcept { return counts_; }

  /// After a look at all rails: one flush for all requests so far. Later ones wait for the next flush. True when
  /// something moved.
  bool step() noexcept {
    bool moved = false;
    if (flusher_.running()) moved = finish();
    if (!flusher_.running() && !arrived_.empty()) {
      flushed_.swap(arrived_);
      flusher_.start();
      finish();
      moved = true;
    }
    return moved;
  }

 private:
  void prepare() {
    if (open_) return;
    arrived_.prepare();
    flushed_.prepare();
  }

  /// Says nothing of any data: whether a rail is alive, or what was executed.
  static bool passes(const std::byte* bytes) noexcept {
    const MessageKind kind = read_header(bytes).kind;
    return kind == MessageKind::ping || kind == MessageKind::inquiry || kind == MessageKind::descriptor;
  }

  bool finish() noexcept {
    if (!flusher_.step()) return false;
    counts_.executed += flushed_.size();
    flushed_.drain([this](size_t r, const std::byte* bytes, size_t nbytes) { responder_.execute(r, bytes, nbytes); });
    return true;
  }

  Responder<R>& responder_;
  Flusher<R> flusher_;
  bool open_;
  HeldRequests arrived_;  ///< since the start of the flush
  HeldRequests flushed_;  ///< for which it runs
  ArrivalCounts counts_;
};

}  // namespace railshmem
