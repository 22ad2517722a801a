// SPDX-License-Identifier: BSD-3-Clause
// The target's side of staging: brings and fetches the data of peers' requests. See staging.h.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "src/proxy/post/message_check.h"
#include "src/proxy/target/inbox.h"
#include "src/proxy/target/staged_steps.h"
#include "src/proxy/target/staged_waiting.h"

namespace railshmem {

/// A request counts as executed when its job is over. Each job under way has a slot; more wait in a queue.
template <Rail R>
class StagedJobs {
 public:
  StagedJobs(Initiator<R>& initiator, StagingPart& part, const TargetMemory& memory, Inbox& inbox, AnswerQueue& answers)
      : steps_(initiator, part, memory, inbox, answers),
        part_(part),
        inbox_(inbox),
        repeats_(!initiator.rails().single()),
        jobs_(std::accumulate(part.pools.begin(), part.pools.end(), size_t{0},
                              [](size_t sum, const BouncePool& pool) { return sum + pool.size(); })) {
    for (StagedJob& job : jobs_) idle_.push_back(&job);
    active_.reserve(jobs_.size());
  }
  StagedJobs(const StagedJobs&) = delete;  // the initiator knows addresses of jobs

  bool busy() const noexcept { return !active_.empty(); }

  /// A request that came over rail `r`. Accepts none that no source can have made.
  Flaw accept(size_t r, Endpoint from, const StagedRequest& request, const std::byte* payload) noexcept {
    const Inbox::Arrival arrival = inbox_.look(from, request.header.sequence);
    if (arrival == Inbox::Arrival::impossible) return Flaw::sequence;
    const StagedOrder order{request, from, static_cast<uint8_t>(r)};
    if (arrival == Inbox::Arrival::repeated && !(request.gets && order.is_small())) {
      steps_.answer(order);
      return Flaw::none;
    }
    if (repeats_ && is_under_way(order)) return Flaw::none;  // it will be answered
    const SlotKind kind = order.is_small() ? SlotKind::small : part_.kind_for(request.nbytes);
    if (request.nbytes > part_.pool(kind).slot_nbytes() - order.slot_head()) return Flaw::length;
    if (!order.is_small() && !part_.may_have_slot(from.pe, request.slot, request.nbytes)) return Flaw::place;
    if (waiting_.empty(kind) && !part_.pool(kind).empty()) {
      begin(order, kind, payload);
    } else {
      waiting_.push(order, kind, payload);
    }
    return Flaw::none;
  }

  /// True when something moved.
  bool step() noexcept {
    bool moved = false;
    for (size_t i = 0; i < active_.size();) {
      StagedJob& job = *active_[i];
      const StagedJob::Stage before = job.stage;
      if (!steps_.advance(job)) {
        moved |= job.stage != before;
        ++i;
        continue;
      }
      moved = true;
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
      end(job);
      begin_waiting(job.slot_kind);
    }
    return moved;
  }

 private:
  void begin(const StagedOrder& order, SlotKind kind, const std::byte* payload) noexcept {
    StagedJob& job = *idle_.back();
    idle_.pop_back();
    static_cast<StagedOrder&>(job) = order;
    job.slot_kind = kind;
    job.slot = part_.pool(kind).take();
    steps_.begin(job, payload);
    if (steps_.advance(job)) {
      end(job);
    } else {
      active_.push_back(&job);
    }
  }

  void end(StagedJob& job) noexcept {
    part_.pool(job.slot_kind).give(job.slot);
    idle_.push_back(&job);
  }

  void begin_waiting(SlotKind kind) noexcept {
    while (!waiting_.empty(kind) && !part_.pool(kind).empty()) {
      const WaitingOrder first = waiting_.pop(kind);
      begin(first.order, kind, first.payload.data());
    }
  }

  bool is_under_way(const StagedOrder& order) const noexcept {
    for (const StagedJob* job : active_)
      if (job->is(order)) return true;
    return waiting_.has(order);
  }

  StagedSteps<R> steps_;
  StagingPart& part_;
  Inbox& inbox_;
  const bool repeats_;
  std::vector<StagedJob> jobs_;
  std::vector<StagedJob*> idle_;
  std::vector<StagedJob*> active_;  ///< oldest first
  StagedWaiting waiting_;
};

}  // namespace railshmem
