// SPDX-License-Identifier: BSD-3-Clause
// What the target does for one request for staged data, step by step. See staging.h.
#pragma once

#include <cstring>

#include "src/proxy/post/message.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/target/answer_queue.h"
#include "src/proxy/target/inbox.h"
#include "src/proxy/target/staged_job.h"
#include "src/proxy/target/target_memory.h"

namespace railshmem {

template <Rail R>
class StagedSteps {
 public:
  StagedSteps(Initiator<R>& initiator, StagingPart& part, const TargetMemory& memory, Inbox& inbox,
              AnswerQueue& answers)
      : initiator_(initiator),
        context_(initiator.add_context()),
        part_(part),
        memory_(memory),
        inbox_(inbox),
        answers_(answers) {}

  /// The job has its order and its slot. `payload`: what came along with the request.
  void begin(StagedJob& job, const std::byte* payload) noexcept {
    find_data(job);
    job.signalled = false;
    if (job.request.gets) {
      job.stage = Stage::loading;
      job.began = part_.ticks();
      job.ticket = part_.copier->start(job.data + job.slot_head(), place(job), job.request.nbytes);
    } else if (job.is_small()) {
      std::memcpy(job.data, payload, job.request.nbytes);
      store(job);
    } else if (job.shared) {
      store(job);
    } else {
      job.stage = Stage::to_fetch;
      move(job, OpKind::get);
    }
  }

  /// As far as it goes now. True when the job is over.
  bool advance(StagedJob& job) noexcept {
    for (;;) switch (job.stage) {
        case Stage::to_fetch:
        case Stage::to_bring: {
          const Post posted = initiator_.issue(job.transfer);
          if (posted != Post::ok) return posted == Post::failed;  // failed: all are leaving
          job.stage = job.stage == Stage::to_fetch ? Stage::fetching : Stage::bringing;
          break;
        }
        case Stage::fetching:
          if (!is_told(job.moved)) return false;
          if (initiator_.is_gone(job.from.pe)) return true;  // what was fetched may not be its data
          store(job);
          break;
        case Stage::storing:
          if (!part_.copier->finished(job.ticket)) return false;
          part_.copied(job.began, job.request.nbytes);
          if (job.request.signals && !job.signalled) {
            const NetSignal& signal = job.request.signal;
            memory_.signal(signal.segment, signal.offset, signal.op, signal.value);
          }
          return complete(job);
        case Stage::loading:
          if (!part_.copier->finished(job.ticket)) return false;
          part_.copied(job.began, job.request.nbytes);
          if (job.shared) return complete(job);
          job.stage = job.is_small() ? Stage::answering : Stage::to_bring;
          if (job.stage == Stage::to_bring) move(job, OpKind::put);
          break;
        case Stage::bringing:
          if (!is_told(job.moved)) return false;
          return complete(job);
        case Stage::answering:
          return send_data(job);
      }
  }

  void answer(const StagedOrder& order) noexcept {
    const MessageHeader& h = order.request.header;
    if (order.request.gets) {
      answers_.reply(order.from, order.rail, h.cell, h.sequence, 0);
    } else {
      answers_.acknowledge(order.from, order.rail);
    }
  }

 private:
  using Stage = StagedJob::Stage;

  void find_data(StagedJob& job) noexcept {
    job.data = job.is_small() ? nullptr : part_.at_neighbour(job.from.pe, job.request.slot, job.request.nbytes);
    job.shared = job.data != nullptr;
    if (!job.shared) job.data = part_.at(job.slot);
  }
  void store(StagedJob& job) noexcept {
    job.stage = Stage::storing;
    job.began = part_.ticks();
    const StagedRequest& request = job.request;
    job.signalled = request.signals && request.signal.op == SignalOp::set && memory_.is_staged(request.signal.segment);
    job.ticket = job.signalled ? part_.copier->start_then_set(place(job), job.data, request.nbytes,
                                                              memory_.signal_word(request.signal), request.signal.value)
                               : part_.copier->start(place(job), job.data, request.nbytes);
  }
  /// Between the source's slot and this job's.
  void move(StagedJob& job, OpKind kind) noexcept {
    job.moved = false;
    const Remote slot{job.from.pe, part_.bounce, job.request.slot};
    job.transfer = Op(kind, Local::lent, &context_, slot, part_.at(job.slot), job.request.nbytes);
    job.transfer.outcome.done = &job.moved;
    job.transfer.is_direct = true;
    initiator_.choose_route(job.transfer);
  }
  std::byte* place(const StagedJob& job) const noexcept {
    return memory_.place(job.request.segment, job.request.offset);
  }

  bool complete(const StagedJob& job) noexcept {
    inbox_.note(job.from, job.request.header.sequence);
    answer(job);
    return true;
  }
  bool send_data(const StagedJob& job) noexcept {
    const MessageHeader& h = job.request.header;
    const MessageHeader header = initiator_.headers().answer(MessageKind::data, h.cell, h.sequence);
    std::byte* const bytes = part_.at(job.slot);
    std::memcpy(bytes, &header, sizeof header);
    const Post posted = initiator_.answer(job.rail, job.from, bytes, sizeof header + job.request.nbytes);
    if (posted == Post::again) return false;
    inbox_.note(job.from, h.sequence);  // of a repeated one it was
    return true;
  }

  Initiator<R>& initiator_;
  NetContext& context_;
  StagingPart& part_;
  const TargetMemory& memory_;
  Inbox& inbox_;
  AnswerQueue& answers_;
};

}  // namespace railshmem
