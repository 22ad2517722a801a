// SPDX-License-Identifier: BSD-3-Clause
// The target's side of staging: brings and fetches the data of peers' requests. See staging.h.
#pragma once

#include <cstring>
#include <deque>
#include <vector>

#include "src/proxy/answer_queue.h"
#include "src/proxy/inbox.h"
#include "src/proxy/initiator.h"
#include "src/proxy/message.h"
#include "src/proxy/staged_job.h"
#include "src/proxy/target_memory.h"

namespace railshmem {

/// A request counts as executed when its job is over. Each job under way has a slot; more wait in a queue, which is
/// bounded by what sources may have unanswered (kWindow per endpoint) and grows only when slots are short.
template <Rail R>
class StagedJobs {
 public:
  StagedJobs(Initiator<R>& initiator, StagingPart& part, const TargetMemory& memory, Inbox& inbox, AnswerQueue& answers)
      : initiator_(initiator),
        scope_(initiator.add_scope()),
        part_(part),
        memory_(memory),
        inbox_(inbox),
        answers_(answers),
        repeats_(!initiator.rails().single()),
        jobs_(part.small.size() + part.large.size()) {
    for (StagedJob& job : jobs_) idle_.push_back(&job);
    active_.reserve(jobs_.size());
  }
  StagedJobs(const StagedJobs&) = delete;  // the initiator knows addresses of jobs

  bool busy() const noexcept { return !active_.empty(); }

  /// A request that came over rail `r`. False: no source counts like that, or has such a piece.
  bool accept(size_t r, Endpoint from, const StagedRequest& request, const std::byte* payload) noexcept {
    const Inbox::Arrival arrival = inbox_.look(from, request.header.sequence);
    if (arrival == Inbox::Arrival::impossible) return false;
    const StagedOrder order{request, from, static_cast<uint8_t>(r)};
    if (arrival == Inbox::Arrival::repeated && !(request.gets && request.slot == kNoSlot)) {
      answer(order);
      return true;
    }
    if (repeats_ && is_under_way(order)) return true;  // it will be answered
    if (request.nbytes > part_.pool(order.is_small()).slot_nbytes() - (order.is_small() ? sizeof(StagedMessage) : 0))
      return false;  // slots are as long everywhere
    auto& queue = waiting_[order.is_small()];
    if (queue.empty() && !part_.pool(order.is_small()).empty()) {
      begin(order, payload);
    } else {
      const size_t carried = payload != nullptr ? request.nbytes : 0;
      queue.push_back({order, std::vector<std::byte>(payload, payload + carried)});
    }
    return true;
  }

  /// True when something moved.
  bool step() noexcept {
    bool moved = false;
    for (size_t i = 0; i < active_.size();) {
      StagedJob& job = *active_[i];
      const StagedJob::Stage before = job.stage;
      if (!advance(job)) {
        moved |= job.stage != before;
        ++i;
        continue;
      }
      moved = true;
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
      retire(job);
    }
    return moved;
  }

 private:
  using Stage = StagedJob::Stage;
  struct Waiting {
    StagedOrder order;
    std::vector<std::byte> payload;
  };

  void begin(const StagedOrder& order, const std::byte* payload) noexcept {
    StagedJob& job = *idle_.back();
    idle_.pop_back();
    static_cast<StagedOrder&>(job) = order;
    job.slot = part_.pool(order.is_small()).take();
    const StagedRequest& request = order.request;
    std::byte* const slot = part_.large.at(job.slot);
    if (request.gets) {
      job.stage = Stage::loading;
      job.ticket = part_.copier->start(slot + job.slot_head(), place(job), request.nbytes);
    } else if (request.slot == kNoSlot) {
      std::memcpy(slot, payload, request.nbytes);
      store(job);
    } else {
      job.stage = Stage::to_fetch;
      move(job, OpKind::get);
    }
    active_.push_back(&job);
    if (!advance(job)) return;
    active_.pop_back();
    // Not retire(): it would begin others from within.
    part_.pool(job.is_small()).give(job.slot);
    idle_.push_back(&job);
  }

  void retire(StagedJob& job) noexcept {
    const bool small = job.is_small();
    part_.pool(small).give(job.slot);
    idle_.push_back(&job);
    auto& queue = waiting_[small];
    while (!queue.empty() && !part_.pool(small).empty()) {
      const Waiting first = std::move(queue.front());
      queue.pop_front();
      begin(first.order, first.payload.data());
    }
  }

  /// As far as it goes now. True when the job is over.
  bool advance(StagedJob& job) noexcept {
    for (;;) switch (job.stage) {
        case Stage::to_fetch:
        case Stage::to_bring: {
          const Post posted = initiator_.transfer(scope_, job.transfer, Source::stable, {&job.moved});
          if (posted != Post::ok) return posted == Post::failed;  // failed: all are leaving
          job.stage = job.stage == Stage::to_fetch ? Stage::fetching : Stage::bringing;
          break;
        }
        case Stage::fetching:
          if (!is_told(job.moved)) return false;
          store(job);
          break;
        case Stage::storing:
          if (!part_.copier->finished(job.ticket)) return false;
          if (job.request.signals) {
            const NetSignal& signal = job.request.signal;
            memory_.signal(job.request.header, signal.segment, signal.offset, signal.op, signal.value, "put_signal");
          }
          return complete(job);
        case Stage::loading:
          if (!part_.copier->finished(job.ticket)) return false;
          job.stage = job.request.slot == kNoSlot ? Stage::answering : Stage::to_bring;
          if (job.stage == Stage::to_bring) move(job, OpKind::put);
          break;
        case Stage::bringing:
          if (!is_told(job.moved)) return false;
          return complete(job);
        case Stage::answering:
          return send_data(job);
      }
  }

  void store(StagedJob& job) noexcept {
    job.stage = Stage::storing;
    job.ticket = part_.copier->start(place(job), part_.large.at(job.slot), job.request.nbytes);
  }
  /// Between the source's slot and this job's.
  void move(StagedJob& job, OpKind kind) noexcept {
    job.moved = false;
    job.transfer = {kind, {job.from.pe, part_.bounce, job.request.slot}, part_.large.at(job.slot), job.request.nbytes};
  }
  std::byte* place(const StagedJob& job) const noexcept {
    const StagedRequest& request = job.request;
    return memory_.place(request.header, request.segment, request.offset, request.nbytes, request.gets ? "get" : "put");
  }

  bool complete(const StagedJob& job) noexcept {
    inbox_.note(job.from, job.request.header.sequence);
    answer(job);
    return true;
  }
  void answer(const StagedOrder& order) noexcept {
    const MessageHeader& h = order.request.header;
    if (order.request.gets) {
      answers_.reply(order.from, order.rail, h.cell, h.sequence, 0);
    } else {
      answers_.acknowledge(order.from, order.rail);
    }
  }
  bool send_data(const StagedJob& job) noexcept {
    const MessageHeader& h = job.request.header;
    const MessageHeader header{
        MessageKind::data, 0, 0, Answer::none, Port::proxy, SegmentId::heap, 0, initiator_.pe(), h.cell, h.sequence, 0};
    std::byte* const bytes = part_.small.at(job.slot);
    std::memcpy(bytes, &header, sizeof header);
    const Post posted = initiator_.answer(job.rail, job.from, bytes, sizeof header + job.request.nbytes);
    if (posted == Post::again) return false;
    inbox_.note(job.from, h.sequence);  // of a repeated one it was
    return true;
  }

  bool is_under_way(const StagedOrder& order) const noexcept {
    for (const StagedJob* job : active_)
      if (job->is(order)) return true;
    for (const auto& queue : waiting_)
      for (const Waiting& waiting : queue)
        if (waiting.order.is(order)) return true;
    return false;
  }

  Initiator<R>& initiator_;
  NetContext& scope_;
  StagingPart& part_;
  const TargetMemory& memory_;
  Inbox& inbox_;
  AnswerQueue& answers_;
  const bool repeats_;
  std::vector<StagedJob> jobs_;
  std::vector<StagedJob*> idle_;
  std::vector<StagedJob*> active_;  ///< oldest first
  std::deque<Waiting> waiting_[2];  ///< for a large slot, for a small one
};

}  // namespace railshmem
