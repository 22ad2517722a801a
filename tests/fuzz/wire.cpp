// SPDX-License-Identifier: BSD-3-Clause
// A whole engine whose peers send anything: requests to its responder, answers to its initiator, between operations of
// its own, rails that fail and peers that die. Afterwards the peers behave, and each operation must end.
//
// AddressSanitizer sees each access outside the heap, the messages and the program's memory. The memory of an operation
// is freed as soon as the engine says that it is the program's again.
#include <array>
#include <memory>

#include "src/base/job_end.h"
#include "src/base/log.h"
#include "src/proxy/post/lost_peers.h"
#include "src/proxy/post/seal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/hostile_rig.h"

namespace railshmem {
namespace {

using fuzz::must;
using test::HostileRig;
using test::ScriptedRail;

constexpr size_t kLongest = 1024;  ///< of an operation

Tuning tuning(bool checks_data) {
  Tuning small;
  small.staging_chunk = 4096;
  small.staging_depth = 1;
  small.stripe_min = 512;
  small.shortest_piece = 256;
  small.longest_piece = 512;
  small.rail_timeout_ns = 3'600'000'000'000;  // rails fail when the input says so
  small.unreachable_ns = 3'600'000'000'000;
  small.quarantine_ns = 0;
  small.checks_data = checks_data;
  return small;
}

/// An operation of the program under way.
struct Live {
  std::unique_ptr<bool> done = std::make_unique<bool>(false);
  std::unique_ptr<std::byte[]> local;
  size_t nbytes = 0;
  std::byte filled{};  ///< each byte of the source of a put
  bool puts = false;
};

class Game {
 public:
  /// Bits 0 and 1: rails; 2: a staged heap; 3: PEs may die; 4: checksums; 5: rails that only get writes.
  explicit Game(uint8_t shape)
      : checks_data_((shape & 16) != 0),
        survives_((shape & 8) != 0),
        rig_({.rails = size_t{1} + shape % 3,
              .shape = {64, 512, 4096, (shape & 32) != 0, false, (shape & 32) != 0},
              .tuning = tuning(checks_data_),
              .staged = (shape & 4) != 0,
              .lost = survives_ ? &lost_ : nullptr}) {}

  void step(fuzz::Input& input) {
    const uint8_t what = input.u8();
    const size_t r = (what >> 6) % rig_.rails.size();
    switch (what % 16) {
      case 0:
      case 1:
        issue(input);
        break;
      case 2:
        complete(r);
        break;
      case 3:
        deliver(r, stranger(input));
        break;
      case 4:
        fail(r);
        break;
      case 5:
        if (survives_ && input.u8() % 4 == 0) die(input.u8() % HostileRig::kNpes);
        break;
      case 6:
        for (ScriptedRail& rail : rig_.rails) rail.room = has_failed_ ? kRoom : input.u8() % 8;
        break;
      case 7:
        answer_well(r);
        break;
      case 8:
        (void)rig_.initiator->flag(rig_.at(8 * (input.u8() % 32)), input.u8());
        break;
      default:
        deliver(r, message(input));
    }
    rig_.turn();
    look();
  }

  /// From now on peers behave, and rails take everything.
  void end() {
    for (ScriptedRail& rail : rig_.rails) rail.room = kRoom;
    for (int i = 0; i < 2000 && !over(); ++i) {
      for (size_t r = 0; r < rig_.rails.size(); ++r) answer_well(r);
      rig_.turn();
      look();
    }
    if (!over()) dprintf(fuzz::kReports, "left: %s\n", rig_.initiator->describe_outstanding().c_str());
    must(over(), "every operation ends once its peer behaves");
    rig_.initiator->forget_all();
    look();
    must(live_.empty() && rig_.context->pending() == 0, "nothing is under way at the end");
  }

 private:
  bool over() const { return live_.empty() && rig_.context->pending() == 0; }

  void look() {
    std::erase_if(live_, [](const Live& one) {
      for (size_t i = 0; one.puts && i < one.nbytes; ++i)
        must(one.local[i] == one.filled, "nobody writes to the source of a put");
      return *one.done;
    });
    must(rig_.context->pending() >= live_.size(), "no operation ends twice");
    must(rig_.context->pending() <= issued_, "an operation that was not begun does not end");
  }

  void issue(fuzz::Input& input) {
    const uint8_t what = input.u8();
    const Remote to{input.u8() % HostileRig::kNpes, SegmentId::heap, (input.u8() % 64) * size_t{8}};
    const size_t nbytes = input.u16() % kLongest + 1;
    if ((what & 128) != 0) ++rig_.context->fences;
    if ((what & 4) != 0 && what % 4 < 3) return issue_one(put_or_get(what, to, nbytes % 16 + 1), what % 4 != 1);
    if (what % 4 < 3) return issue_one(put_or_get(what, to, nbytes), what % 4 != 1);
    const auto op = static_cast<AmoOp>(input.u8() % (static_cast<uint8_t>(AmoOp::fetch_xor) + 1));
    const NetAmo amo{op, static_cast<uint8_t>((what & 8) != 0 ? 4 : 8), 1, 0};
    issue_one(amo_op(*rig_.context, to, amo, nullptr, Local::lent), false);
  }
  Op put_or_get(uint8_t what, const Remote& to, size_t nbytes) {
    const NetSignal signal{SegmentId::heap, 8, 1, (what & 8) != 0 ? SignalOp::add : SignalOp::set};
    const Local use = (what & 16) != 0 ? Local::copied : Local::lent;
    if (what % 4 == 0) return put_op(*rig_.context, to, nullptr, nbytes, use);
    if (what % 4 == 1) return get_op(*rig_.context, to, nullptr, nbytes, Local::lent);
    return put_signal_op(*rig_.context, to, nullptr, nbytes, signal, Local::lent);
  }
  void issue_one(Op op, bool puts) {
    Live one;
    one.nbytes = op.nbytes;
    one.local = std::make_unique<std::byte[]>(op.nbytes);
    one.filled = static_cast<std::byte>(issued_ + 1);
    one.puts = puts;
    std::memset(one.local.get(), static_cast<int>(issued_ + 1), op.nbytes);
    op.outcome.done = one.done.get();
    if (op.kind != OpKind::amo || amo_fetches(op.detail.amo.op)) op.local = one.local.get();
    if (test::issue(*rig_.initiator, op) != Post::ok) return;
    ++issued_;
    if (op.is_copied()) one.local = nullptr, one.puts = false;  // the rail has copied it
    live_.push_back(std::move(one));
  }

  /// The rail tells of what was posted. Messages have arrived, and wait for their answer.
  void complete(size_t r) {
    for (ScriptedRail::Posted& one : take(r)) {
      if (one.slot != nullptr) rig_.rails[r].complete(one.slot);
      if (one.what == 's') arrived_.push_back(std::move(one));
    }
  }
  /// One rail is left, over which all peers are reached: without any this PE rightly ends. From now on rails have room:
  /// an inquiry that finds none is repeated only after a quarter of the timeout, which never comes here.
  void fail(size_t r) {
    if (r + 1 == rig_.rails.size()) return;
    has_failed_ = true;
    for (ScriptedRail& rail : rig_.rails) rail.room = kRoom;
    for (ScriptedRail::Posted& one : take(r))
      if (one.slot != nullptr)
        rig_.rails[r].fail(one.slot);
      else
        arrived_.push_back(std::move(one));
  }
  void die(int pe) {
    if (pe != 1 && !lost_.has(pe)) lost_.add(pe);
  }
  std::vector<ScriptedRail::Posted> take(size_t r) {
    std::vector<ScriptedRail::Posted> posted;
    posted.swap(rig_.rails[r].posted);
    for (const ScriptedRail::Posted& one : posted)
      if (one.what == 's' && one.bytes.size() >= sizeof asked_) asked_ = read_message<MessageHeader>(one.bytes.data());
    return posted;
  }

  /// As PEs of the job do.
  void answer_well(size_t r) {
    complete(r);
    std::vector<ScriptedRail::Posted> arrived;
    arrived.swap(arrived_);
    for (const ScriptedRail::Posted& one : arrived)
      if (!lost_.has(one.to.pe)) answer_well(r, one);
  }
  void answer_well(size_t r, const ScriptedRail::Posted& asked) {
    const auto h = read_message<MessageHeader>(asked.bytes.data());
    MessageHeader answer = HostileRig::header(MessageKind::acknowledge);
    answer.pe = asked.to.pe;
    answer.port = Port::proxy;
    answer.cell = h.cell;
    answer.sequence = h.sequence;
    if (h.kind == MessageKind::ping) return deliver(r, with_kind(answer, MessageKind::pong));
    if (h.kind == MessageKind::inquiry) {
      AccountMessage account{with_kind(answer, MessageKind::account), {}};
      account.header.sequence = next_[static_cast<size_t>(asked.to.pe)];
      return deliver(r, account);
    }
    if (!is_request(h.kind) || h.answer == Answer::none || h.kind == MessageKind::descriptor) return;
    uint32_t& next = next_[static_cast<size_t>(asked.to.pe)];
    if (static_cast<int32_t>(h.sequence + 1 - next) > 0) next = h.sequence + 1;
    if (h.answer == Answer::acknowledge) {
      answer.sequence = next;
      return deliver(r, AcknowledgeMessage{answer, 0});
    }
    size_t data = 0;
    if (h.kind == MessageKind::get) data = read_message<GetMessage>(asked.bytes.data()).nbytes;
    if (h.kind == MessageKind::staged_get) {
      const auto m = read_message<StagedMessage>(asked.bytes.data());
      if (m.slot == kNoSlot) data = m.nbytes;
    }
    if (data > 0) return deliver(r, with_kind(answer, MessageKind::data), data);
    deliver(r, ReplyMessage{with_kind(answer, MessageKind::reply), 7});
  }
  static MessageHeader with_kind(MessageHeader header, MessageKind kind) {
    header.kind = kind;
    return header;
  }
  template <class M>
  void deliver(size_t r, const M& message, size_t more = 0) {
    deliver(r, HostileRig::bytes_of(message, more));
  }
  void deliver(size_t r, std::vector<std::byte> message) {
    if (checks_data_) {
      if (message.size() + kSealBytes > kMaxMessage) return;
      message.resize(message.size() + kSealBytes);
      seal(message.data(), message.size() - kSealBytes);
    }
    rig_.deliver_bytes(message, r);
    look();
  }

  std::vector<std::byte> stranger(fuzz::Input& input) {
    const size_t n = input.u8();
    return input.bytes(n);
  }

  /// A header as PEs of the job send it. Each bit of a byte of the input sets a field to anything.
  MessageHeader a_header(fuzz::Input& input) {
    const uint8_t kind = input.u8(), bends = input.u8(), fields = input.u8();
    MessageHeader h = HostileRig::header(static_cast<MessageKind>((kind & 31) % (kMessageKinds + 1)));
    h.op = fields & 15;
    h.width = (fields & 16) != 0 ? 4 : 8;
    h.answer = static_cast<Answer>(fields >> 5 & 3);
    h.port = (fields & 128) != 0 ? Port::host : Port::proxy;
    h.pe = kind >> 5 & 3;
    h.cell = input.u8() % (HostileRig::kCells + 1);
    h.sequence = input.u8() % 8;
    if ((bends & 1) != 0) {
      h.cell = asked_.cell;
      h.sequence = asked_.sequence + (kind >> 7);  // an acknowledgement names the next one
    }
    if ((bends & 2) != 0) h.op = input.u8();
    if ((bends & 4) != 0) h.width = input.u8();
    if ((bends & 8) != 0) h.answer = static_cast<Answer>(input.u8());
    if ((bends & 16) != 0) h.segment = static_cast<SegmentId>(input.u8());
    if ((bends & 32) != 0) h.pe = static_cast<int32_t>(input.u32());
    if ((bends & 64) != 0) h.cell = input.u32();
    if ((bends & 128) != 0) h.sequence = input.u32();
    return h;
  }
  /// The fields behind the header, as words that are mostly small, and a payload.
  std::vector<std::byte> message(fuzz::Input& input) {
    std::vector<std::byte> all = HostileRig::bytes_of(a_header(input));
    const uint8_t nwords = input.u8() % 8, large = input.u8();
    for (uint8_t i = 0; i < nwords; ++i) {
      const uint64_t word = (large >> i & 1) != 0 ? input.u64() : uint64_t{input.u8()} * 8;
      const auto bytes = HostileRig::bytes_of(word);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    const uint8_t cut = input.u8();
    if (cut >= 224) all.resize(all.size() - std::min(all.size(), cut - size_t{223}));
    if (cut < 128) all.resize(all.size() + cut * size_t{8}, std::byte{0x5a});
    return all;
  }

  static constexpr int kRoom = 1 << 30;

  const bool checks_data_, survives_;
  bool has_failed_ = false;
  LostPeers lost_{HostileRig::kNpes};
  HostileRig rig_;
  std::vector<Live> live_;
  uint64_t issued_ = 0;
  std::vector<ScriptedRail::Posted> arrived_;          ///< messages at their targets, not answered yet
  MessageHeader asked_{};                              ///< of the newest message of this PE
  std::array<uint32_t, HostileRig::kNpes> next_ = {};  ///< by PE: the number of the request that it waits for
};

void play(fuzz::Input input) {
  Game game(input.u8());
  for (int steps = 0; !input.empty() && steps < 200; ++steps) game.step(input);
  game.end();
}

constexpr uint8_t kNoMore = 128;  ///< behind the words of a message: no payload, and all bytes of it

using Step = std::vector<uint8_t>;
fuzz::Data steps(uint8_t shape, const std::vector<Step>& all) {
  fuzz::Data out{std::byte{shape}};
  for (const Step& one : all)
    for (const uint8_t byte : one) out.push_back(std::byte{byte});
  return out;
}
/// A message of PE 2: its kind, the bits of its header, and small words. `asked`: cell and number are those of the
/// newest request.
Step message(MessageKind kind, uint8_t fields, const std::vector<uint8_t>& words, bool asked = false,
             uint8_t end = kNoMore) {
  const unsigned next = kind == MessageKind::acknowledge ? 128 : 0;
  Step step = {9, static_cast<uint8_t>(static_cast<unsigned>(kind) + (2u << 5) + next), asked, fields, 0, 0};
  step.push_back(static_cast<uint8_t>(words.size()));
  step.push_back(0);
  step.insert(step.end(), words.begin(), words.end());
  step.push_back(end);
  return step;
}

/// Every kind of message and of operation, over one rail and several, to a heap in host memory and a staged one.
std::vector<fuzz::Data> seeds() {
  constexpr uint8_t kAck = 1 << 5, kReply = 2 << 5;
  const Step put = {0, 0, 2, 1, 100, 0}, get = {0, 1, 2, 1, 200, 0}, put_signal = {0, 2, 2, 1, 64, 0},
             fetch = {0, 3, 2, 1, 8, 0, 5}, add = {0, 3, 2, 1, 8, 0, 4}, large_put = {0, 0, 2, 0, 0, 3},
             large_get = {0, 1, 2, 0, 0, 3}, copied = {0, 16, 2, 1, 100, 0}, done = {2}, well = {7}, lost = {4},
             dead = {5, 0, 2}, no_room = {6, 0, 0, 0}, flag = {8, 1, 1};
  const Step amo = message(MessageKind::amo, 4 | kAck, {1, 1, 0}),
             fetching = message(MessageKind::amo, 5 | kReply, {1, 1, 0}),
             signal = message(MessageKind::signal, kAck, {2, 1}), a_flag = message(MessageKind::flag, kAck, {3, 9}),
             account = message(MessageKind::account, 0, {0, 0, 0, 0}), ping = message(MessageKind::ping, 1, {}),
             pong = message(MessageKind::pong, 0, {}), inquiry = message(MessageKind::inquiry, 0, {}),
             executed = message(MessageKind::acknowledge, 0, {1}, true),
             value = message(MessageKind::reply, 0, {7}, true), data = message(MessageKind::data, 0, {}, true, 25),
             a_get = message(MessageKind::get, kReply, {1, 1}),
             a_put = message(MessageKind::put_signal, kAck, {8, 1, 4, 1}, false, 1),
             descriptor = message(MessageKind::descriptor, 0, {1}, false, 1),
             staged_put = message(MessageKind::staged_put, kAck, {4, 0, 0, 0, 1}),
             staged_get = message(MessageKind::staged_get, kReply, {4, 0, 0, 0, 1}),
             values = message(MessageKind::replies, 0, {0, 7}, true);
  std::vector<fuzz::Data> all;
  for (const uint8_t shape : {0, 1, 2, 4, 5, 8, 9, 16, 20, 33}) {
    all.push_back(steps(shape, {amo, fetching, signal, a_flag, a_get, a_put, descriptor, ping, inquiry, staged_put}));
    all.push_back(steps(shape, {put, done, get, data, done, fetch, value, add, executed, put_signal, executed, pong}));
    all.push_back(steps(shape, {large_put, large_get, done, data, account, fetch, values, copied, flag, staged_get}));
    all.push_back(steps(shape, {put, fetch, large_get, lost, ping, add, account, put_signal, well, no_room, get, put}));
    if ((shape & 8) != 0) all.push_back(steps(shape, {put, fetch, large_put, dead, executed, value, done, put}));
  }
  return all;
}

}  // namespace
}  // namespace railshmem

RAILSHMEM_FUZZ(wire, railshmem::seeds) {
  railshmem::set_log_level(railshmem::LogLevel::error);
  railshmem::set_end_hooks({.notify = [](int, const char* why) noexcept { railshmem::fuzz::must(false, why); }});
  railshmem::play(input);
}
