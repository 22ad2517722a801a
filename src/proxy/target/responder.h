// SPDX-License-Identifier: BSD-3-Clause
// The target's side: executes peers' requests on this PE's memory and answers them. Never blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "src/observe/observer.h"
#include "src/plugin/execute.h"
#include "src/plugin/segment.h"
#include "src/proxy/failover/inquiries.h"
#include "src/proxy/post/message.h"
#include "src/proxy/source/initiator.h"
#include "src/proxy/target/answer_queue.h"
#include "src/proxy/target/inbox.h"
#include "src/proxy/target/staged_jobs.h"
#include "src/proxy/target/target_memory.h"
#include "src/proxy/target/word_requests.h"

namespace railshmem {

template <Rail R>
class Responder {
 public:
  /// Answers leave through `initiator`, over the rail of the request where that rail can take them.
  Responder(Initiator<R>& initiator, std::span<const Segment> segments, int npes, observe::Observer* observer = nullptr,
            StagingPart* staging = nullptr)
      : initiator_(initiator),
        ports_(initiator.ports()),
        inbox_(npes, ports_, !initiator.rails().single()),
        answers_(npes, ports_),
        memory_(segments, staging),
        observer_(observer) {
    if (staging != nullptr) jobs_.emplace(initiator, *staging, memory_, inbox_, answers_);
  }

  /// Executes one message that came over rail `r` and has passed check_message(), unless the message has been here
  /// before. One that names memory of no segment, or has a number that no source can have used, is dropped. Answers are
  /// only collected; flush() sends them, with one acknowledgement per source. Updates of staged words are collected
  /// too; flush() executes them all together.
  void execute(size_t r, const std::byte* bytes, size_t nbytes) noexcept {
    const Flaw flaw = jobs_ ? take_beside_jobs(r, bytes) : take(r, bytes, nbytes);
    if (flaw != Flaw::none) [[unlikely]]
      initiator_.refuse(r, flaw, bytes, nbytes);
  }

  /// Sends the owed answers as far as the rails have room. True when something left.
  bool flush(const ArrivalCounts& requests = {}) noexcept {
    execute_words();
    bool sent = jobs_ && jobs_->step();
    inquiries_.take_due(
        requests, [this](const Inquiry& inquiry) { answers_.account(inquiry.from, inquiry.rail, inquiry.number); });
    // A target without room goes to the end of the queue once per pass; the cap keeps a pass short.
    for (size_t tries = std::min(answers_.size(), kMaxTries); tries > 0 && !answers_.empty(); --tries) {
      if (answers_.front().kind == MessageKind::reply ? send_replies() : send_one())
        sent = true;
      else
        answers_.rotate();
    }
    return sent;
  }

  bool owes_answers() const noexcept {
    return !answers_.empty() || !inquiries_.empty() || !words_.empty() || (jobs_ && jobs_->busy());
  }

 private:
  static constexpr size_t kMaxTries = 64;  // a few microseconds; then the rails should be reaped again

  /// Where rails reach all memory: requests are executed at once. One switch for all that is to be known of a kind.
  Flaw take(size_t r, const std::byte* bytes, size_t nbytes) noexcept {
    const MessageHeader header = read_header(bytes);
    switch (header.kind) {
      case MessageKind::amo: {
        std::byte* const word = memory_.find_word(header.segment, offset_at<AmoMessage>(bytes), header.width);
        if (word == nullptr) [[unlikely]]
          return Flaw::place;
        return take_numbered(r, header, 8, [&] { return TargetMemory::amo(word, header, bytes); });
      }
      case MessageKind::signal: {
        std::byte* const word = memory_.find_word(header.segment, offset_at<SignalMessage>(bytes), 8);
        if (word == nullptr) [[unlikely]]
          return Flaw::place;
        return take_numbered(r, header, 8, [&] {
          execute_signal(reinterpret_cast<uint64_t*>(word), static_cast<SignalOp>(header.op),
                         read_at<uint64_t>(bytes + offsetof(SignalMessage, value)));
          return uint64_t{0};
        });
      }
      case MessageKind::flag: {
        std::byte* const word = memory_.find_word(header.segment, offset_at<FlagMessage>(bytes), 8);
        if (word == nullptr) [[unlikely]]
          return Flaw::place;
        return take_numbered(r, header, 8, [&] {
          raise_flag(reinterpret_cast<uint64_t*>(word), read_at<uint64_t>(bytes + offsetof(FlagMessage, value)));
          return uint64_t{0};
        });
      }
      default:
        return take_other(r, bytes, nbytes);
    }
  }
  template <class M>
  static uint64_t offset_at(const std::byte* bytes) noexcept {
    return read_at<uint64_t>(bytes + offsetof(M, offset));
  }
  [[gnu::noinline]] Flaw take_other(size_t r, const std::byte* bytes, size_t nbytes) noexcept {
    const auto header = read_message<MessageHeader>(bytes);
    if (const Flaw flaw = memory_.check(header, bytes); flaw != Flaw::none) return flaw;
    if (header.kind != MessageKind::put_signal) return take_plain(r, header, bytes);
    return take_numbered(r, header, nbytes - sizeof(PutSignalMessage), [&] { return execute(header, bytes); });
  }

  /// What has no number, and gets. The message has passed TargetMemory::check().
  Flaw take_plain(size_t r, const MessageHeader& header, const std::byte* bytes) noexcept {
    const Endpoint from{header.pe, header.port};
    switch (header.kind) {
      case MessageKind::ping:
        answers_.pong(from, r);
        if (header.op != 0 && initiator_.failover().expects_news()) pass_on(header, r);
        return Flaw::none;
      case MessageKind::inquiry:
        inquiries_.add(from, r, header.cell);
        return Flaw::none;
      case MessageKind::descriptor:
        if (!initiator_.failover().expects_news()) return Flaw::kind;
        learn(from, read_message<DescriptorMessage>(bytes), bytes);
        answers_.pong(from, r);
        return Flaw::none;
      default:
        return take_get(r, from, read_message<GetMessage>(bytes));
    }
  }

  Flaw take_get(size_t r, Endpoint from, const GetMessage& message) noexcept {
    if (inbox_.note(from, message.header.sequence) == Inbox::Arrival::impossible) return Flaw::sequence;
    answers_.data(from, r, message);  // a repeated get is read again: its source has not had the data
    return Flaw::none;
  }

  /// Where some memory is staged.
  [[gnu::noinline]] Flaw take_beside_jobs(size_t r, const std::byte* bytes) noexcept {
    const auto header = read_message<MessageHeader>(bytes);
    if (const Flaw flaw = memory_.check(header, bytes); flaw != Flaw::none) return flaw;
    const MessageKind kind = header.kind;
    if (kind == MessageKind::get) execute_words();
    if (kind == MessageKind::ping || kind == MessageKind::inquiry || kind == MessageKind::descriptor ||
        kind == MessageKind::get)
      return take_plain(r, header, bytes);
    const Endpoint from{header.pe, header.port};
    const bool numbered = header.answer != Answer::none;
    if (numbered && inbox_.look(from, header.sequence) == Inbox::Arrival::impossible) return Flaw::sequence;
    if (is_for_staged_word(header) && collect(r, from, header, bytes)) return Flaw::none;
    execute_words();  // in the order of arrival
    if (is_staged(header, bytes)) return stage(r, from, header, bytes);
    const size_t carried = kind == MessageKind::put_signal ? read_message<PutSignalMessage>(bytes).nbytes : 8;
    return take_numbered(r, header, carried, [&] { return execute(header, bytes); });
  }

  /// `run` executes the request, and returns the old value of an atomic operation.
  template <class Run>
  [[gnu::always_inline]] Flaw take_numbered(size_t r, const MessageHeader& header, size_t carried, Run&& run) noexcept {
    const Endpoint from{header.pe, header.port};
    Inbox::Arrival arrival = Inbox::Arrival::first;  // of a request that is not numbered
    if (header.answer != Answer::none) arrival = inbox_.note(from, header.sequence);
    if (arrival == Inbox::Arrival::impossible) return Flaw::sequence;
    const uint64_t began = observer_ ? observer_->ticks() : 0;
    uint64_t old = 0;
    if (arrival == Inbox::Arrival::first) {
      old = run();
      if (header.answer == Answer::reply) inbox_.keep_value(from, header.sequence, old);
    } else if (header.answer == Answer::reply) {
      old = inbox_.value(from, header.sequence);
    }
    owe(header, from, r, old);
    if (observer_) [[unlikely]]
      record(header.kind, began, carried, header.pe);
    return Flaw::none;
  }

  void owe(const MessageHeader& header, Endpoint from, size_t r, uint64_t old) noexcept {
    if (header.answer == Answer::reply) {
      answers_.reply(from, r, header.cell, header.sequence, old);
    } else if (header.answer == Answer::acknowledge) {
      answers_.acknowledge(from, r);
    }
  }

  bool is_for_staged_word(const MessageHeader& header) const noexcept {
    const bool updates = header.kind == MessageKind::amo ||
                         (header.kind == MessageKind::signal && header.op != static_cast<uint8_t>(SignalOp::set));
    return updates && memory_.is_staged(header.segment);
  }
  /// Collects an update of a staged word. False: the request has been here before.
  bool collect(size_t r, Endpoint from, const MessageHeader& header, const std::byte* bytes) noexcept {
    WordAmo amo{};
    if (header.kind == MessageKind::amo) {
      const auto message = read_message<AmoMessage>(bytes);
      amo = memory_.staged_word(header, message.offset, message.operand, message.compare);
    } else {
      const auto message = read_message<SignalMessage>(bytes);
      amo = memory_.staged_word(header, message.offset, message.value, 0);
    }
    if (inbox_.note(from, header.sequence) != Inbox::Arrival::first) return false;
    if (words_.full()) execute_words();
    words_.add({header, from, static_cast<uint8_t>(r)}, amo);
    return true;
  }
  void execute_words() noexcept {
    if (words_.empty()) return;
    const uint64_t began = observer_ ? observer_->ticks() : 0;
    words_.execute(memory_.copier(), [&](const WordRequest& request, uint64_t old) {
      const MessageHeader& header = request.header;
      if (header.answer == Answer::reply) inbox_.keep_value(request.from, header.sequence, old);
      owe(header, request.from, request.rail, old);
      if (observer_) [[unlikely]]
        record(header.kind, began, 8, header.pe);
    });
  }

  /// Whether the message moves data to or from memory that rails do not reach, or from a source's slot.
  bool is_staged(const MessageHeader& header, const std::byte* bytes) const noexcept {
    if (header.kind == MessageKind::staged_put || header.kind == MessageKind::staged_get) return true;
    if (header.kind == MessageKind::signal)  // an adding signal is no staged job: it goes with the word updates
      return header.op == static_cast<uint8_t>(SignalOp::set) && memory_.is_staged(header.segment);
    return header.kind == MessageKind::put_signal &&
           memory_.is_staged(read_message<PutSignalMessage>(bytes).data_segment);
  }
  Flaw stage(size_t r, Endpoint from, const MessageHeader& header, const std::byte* bytes) noexcept {
    size_t head = sizeof(StagedMessage);
    StagedRequest request{};
    if (header.kind == MessageKind::put_signal) {
      head = sizeof(PutSignalMessage);
      request = StagedRequest::of(read_message<PutSignalMessage>(bytes));
    } else if (header.kind == MessageKind::signal) {
      head = sizeof(SignalMessage);
      request = StagedRequest::of(read_message<SignalMessage>(bytes));
    } else {
      request = StagedRequest::of(read_message<StagedMessage>(bytes));
    }
    const bool carries = !request.gets && request.slot == kNoSlot;
    const uint64_t began = observer_ ? observer_->ticks() : 0;
    const Flaw flaw = jobs_->accept(r, from, request, carries ? bytes + head : nullptr);
    if (flaw == Flaw::none && observer_) [[unlikely]]
      record(header.kind, began, request.nbytes, header.pe);
    return flaw;
  }

  /// Returns the old value of an atomic operation.
  uint64_t execute(const MessageHeader& header, const std::byte* bytes) noexcept {
    switch (header.kind) {
      case MessageKind::amo:
        return memory_.amo(header, bytes);
      case MessageKind::signal: {
        const auto message = read_message<SignalMessage>(bytes);
        memory_.signal(header.segment, message.offset, static_cast<SignalOp>(header.op), message.value);
        return 0;
      }
      case MessageKind::put_signal:
        execute_put_signal(read_message<PutSignalMessage>(bytes), bytes);
        return 0;
      case MessageKind::flag:
        memory_.flag(read_message<FlagMessage>(bytes));
        return 0;
      default:
        return 0;  // none other comes here: check() refuses staged ones where nothing is staged
    }
  }

  void execute_put_signal(const PutSignalMessage& message, const std::byte* bytes) noexcept {
    const MessageHeader& header = message.header;
    copy_whole(memory_.place(message.data_segment, message.data_offset), bytes + sizeof message, message.nbytes);
    memory_.signal(header.segment, message.signal_offset, static_cast<SignalOp>(header.op), message.value);
  }

  [[gnu::cold]] void pass_on(const MessageHeader& ping, size_t alive) noexcept {
    const bool unlinked = ping.op == static_cast<uint8_t>(PingNews::no_link);
    initiator_.failover().notify_news(unlinked ? News{News::What::no_link, ping.pe, ping.cell}
                                               : News{News::What::doubt, ping.pe, alive});
  }

  [[gnu::cold]] void learn(Endpoint from, const DescriptorMessage& message, const std::byte* bytes) noexcept {
    if (!is_news(from, message)) return;
    const std::byte* const descriptor = bytes + sizeof message;
    initiator_.failover().notify_news(
        {News::What::reopened, message.header.pe, 0, {descriptor, descriptor + message.nbytes}});
  }

  [[gnu::cold]] bool is_news(Endpoint from, const DescriptorMessage& message) {
    const uint32_t number = message.header.sequence;
    for (Learned& learned : learned_) {
      if (learned.from.pe != from.pe || learned.from.port != from.port || learned.rail != message.rail) continue;
      if (static_cast<int32_t>(number - learned.number) <= 0) return false;
      learned.number = number;
      return true;
    }
    learned_.push_back({from, message.rail, number});
    return true;
  }

  [[gnu::cold, gnu::noinline]] void record(MessageKind kind, uint64_t began, size_t carried, int pe) noexcept {
    const char* what = "serve flag";
    if (kind == MessageKind::amo) what = "serve amo";
    if (kind == MessageKind::signal) what = "serve signal";
    if (kind == MessageKind::put_signal) what = "serve put_signal";
    if (kind == MessageKind::staged_put) what = "serve put";
    if (kind == MessageKind::staged_get) what = "serve get";
    observer_->did(what, began, carried, pe);
    observer_->count(observe::Engine::served, 1);
    observer_->count(observe::Engine::served_bytes, carried);
  }

  /// Sends the answer at the front. False: no room now.
  bool send_one() noexcept {
    if (send(answers_.front()) == Post::again) return false;
    answers_.pop();
    return true;
  }

  /// Sends the reply at the front in one message with other replies to its endpoint.
  bool send_replies() noexcept {
    std::array<ReplyItem, kMostReplies> items;
    const size_t n = answers_.replies(items);
    if (n == 1) return send_one();
    const PendingAnswer& first = answers_.front();
    const MessageHeader header = initiator_.headers().answer(MessageKind::replies, static_cast<uint32_t>(n));
    std::array<std::byte, sizeof header + sizeof items> bytes;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, items.data(), n * sizeof(ReplyItem));
    if (initiator_.answer(first.rail, first.to, bytes.data(), sizeof header + n * sizeof(ReplyItem)) == Post::again)
      return send_one();  // needs no buffer: else two PEs could wait for each other's buffers
    answers_.pop_replies();
    return true;
  }

  Post send(const PendingAnswer& answer) noexcept {
    MessageHeader header = initiator_.headers().answer(answer.kind, answer.cell, answer.sequence);
    if (answer.kind == MessageKind::pong) {
      initiator_.pong(answer.rail, answer.to, header);  // lost if there is no room: the next ping asks again
      return Post::ok;
    }
    if (answer.kind == MessageKind::data) {
      std::array<std::byte, kMaxMessage> bytes;
      std::memcpy(bytes.data(), &header, sizeof header);
      std::memcpy(bytes.data() + sizeof header, memory_.exposed(answer.segment, answer.value), answer.nbytes);
      return initiator_.answer(answer.rail, answer.to, bytes.data(), sizeof header + answer.nbytes);
    }
    if (answer.kind == MessageKind::account) {
      AccountMessage account{header, {}};
      inbox_.account(answer.to, account);
      return send(answer, account);
    }
    if (answer.kind == MessageKind::reply) {
      return send(answer, ReplyMessage{header, answer.value});
    }
    const Inbox::State state = inbox_.state(answer.to);
    header.sequence = state.first_missing;
    return send(answer, AcknowledgeMessage{header, state.executed});
  }
  template <class M>
  Post send(const PendingAnswer& answer, const M& message) noexcept {
    return initiator_.answer(answer.rail, answer.to, reinterpret_cast<const std::byte*>(&message), sizeof message);
  }

  Initiator<R>& initiator_;
  const size_t ports_;  ///< of each peer
  Inbox inbox_;
  AnswerQueue answers_;
  Inquiries inquiries_;
  const TargetMemory memory_;
  std::optional<StagedJobs<R>> jobs_;  ///< empty: rails reach all memory
  WordRequests words_;
  struct Learned {
    Endpoint from;
    uint32_t rail;
    uint32_t number;
  };
  std::vector<Learned> learned_;       ///< the newest descriptor of every rail that was opened anew
  observe::Observer* const observer_;  ///< null: nobody records
};

}  // namespace railshmem
