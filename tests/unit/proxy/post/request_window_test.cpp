// SPDX-License-Identifier: BSD-3-Clause
// Outbox and Inbox together, over a network that reorders and repeats: each request is executed once, and answered.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <vector>

#include "src/proxy/post/cell_pool.h"
#include "src/proxy/post/outbox.h"
#include "src/proxy/target/inbox.h"

namespace railshmem::test {
namespace {

constexpr int kMembers = 3;
constexpr Endpoint kSource{1, Port::host};

struct Request {
  int pe;  ///< the target
  uint32_t sequence;
  uint32_t cell;
  bool fetches;
  uint64_t id;  ///< not on the wire: which one it really is
};

struct Answered {
  int pe;
  bool is_reply;
  uint32_t sequence;  ///< of a reply, or the first missing one
  uint64_t executed;
  uint32_t cell;
  uint64_t value;
};

/// One source and three targets. The oldest messages are not always the first to arrive, some arrive again, and some
/// answers only after thousands of others.
class Exchange {
 public:
  Exchange(unsigned seed, uint32_t first) : random_(seed), outbox_(kMembers, first) {
    for (int pe = 0; pe < kMembers; ++pe) {
      inboxes_.emplace_back(kMembers, ports_with(1), true, first);
      ids_.push_back(0);
    }
  }

  void step() {
    switch (random_() % 8) {
      case 0:
      case 1:
      case 2:
        return ask();
      case 3:
      case 4:
        return arrive();
      case 5:
        if (!late_.empty() && random_() % 64 == 0) receive(take(late_));
        return;
      default:
        if (!answers_.empty()) receive(take(answers_));
    }
  }
  void settle() {
    while (!requests_.empty()) arrive();
    while (!answers_.empty()) receive(take(answers_));
  }

  uint64_t asked() const { return asked_; }
  size_t unanswered() const { return open_.size(); }
  size_t total() const { return outbox_.total(); }
  uint64_t repeated() const { return repeated_; }
  uint32_t furthest() const { return furthest_; }
  uint32_t next(int pe) const { return outbox_.next(pe); }
  void receive_late() {
    while (!late_.empty()) receive(take(late_));
  }
  void fail_unless_idle() {
    settle();
    EXPECT_EQ(unanswered(), 0u);
    EXPECT_EQ(total(), 0u);
    EXPECT_EQ(cells_.in_use(), 0u);
    for (int pe = 0; pe < kMembers; ++pe) EXPECT_EQ(inboxes_[static_cast<size_t>(pe)].state(kSource).executed, 0u);
  }

 private:
  template <class T>
  T take(std::vector<T>& from) {
    // Mostly among the first ones: a network reorders, but does not forget.
    const size_t i = random_() % std::min<size_t>(from.size(), random_() % 4 == 0 ? from.size() : 8);
    T one = from[i];
    from.erase(from.begin() + static_cast<long>(i));
    return one;
  }

  void ask() {
    const int pe = static_cast<int>(random_() % kMembers);
    if (!outbox_.has_room(pe, cells_)) return;
    OpCell* const cell = cells_.take({OpKind::amo, pe, 8});
    if (cell == nullptr) return;
    const bool fetches = random_() % 4 == 0;
    cell->fetch = fetches ? &fetched_ : nullptr;
    const uint32_t expected = outbox_.next(pe);
    outbox_.add(cells_, *cell);
    ASSERT_EQ(cell->sequence, expected);
    const Request request{pe, cell->sequence, cell->index, fetches, ids_[static_cast<size_t>(pe)]++};
    open_[cell->index] = request;
    ++asked_;
    requests_.push_back(request);
    if (random_() % 5 == 0) requests_.push_back(request);  // over a second rail, because the first was silent
    uint64_t oldest = request.id;
    for (const auto& [index, other] : open_)
      if (other.pe == pe) oldest = std::min(oldest, other.id);
    furthest_ = std::max(furthest_, static_cast<uint32_t>(request.id - oldest) + 1);
    ASSERT_LE(request.id - oldest, kWindow - 1) << "the window is exceeded";
  }

  void arrive() {
    if (requests_.empty()) return;
    const Request request = take(requests_);
    Inbox& inbox = inboxes_[static_cast<size_t>(request.pe)];
    const Inbox::Arrival arrival = inbox.note(kSource, request.sequence);
    ASSERT_NE(arrival, Inbox::Arrival::impossible);
    const auto once = std::pair(request.pe, request.id);
    if (arrival == Inbox::Arrival::first) {
      ASSERT_FALSE(executed_[once]) << "executed twice";
      executed_[once] = true;
      if (request.fetches) inbox.keep_value(kSource, request.sequence, request.id * 10);
    } else {
      ASSERT_TRUE(executed_[once]) << "taken for a repetition";
      ++repeated_;
    }
    Answered answer{request.pe, request.fetches, request.sequence, 0, request.cell, 0};
    if (request.fetches) {
      answer.value = inbox.value(kSource, request.sequence);
    } else {
      const Inbox::State state = inbox.state(kSource);
      answer.sequence = state.first_missing;
      answer.executed = state.executed;
    }
    answers_.push_back(answer);
    if (random_() % 16 == 0) late_.push_back(answer);
  }

  void receive(const Answered& answer) {
    if (answer.is_reply) {
      OpCell& cell = cells_[answer.cell];  // as the initiator: the cell may have another owner by now
      if (!cell.state.awaits_answer() || cell.sequence != answer.sequence || cell.what.pe != answer.pe) return;
      ASSERT_EQ(answer.value, open_[cell.index].id * 10);
      outbox_.remove(cells_, cell);
      close(cell);
      return;
    }
    outbox_.acknowledge(cells_, answer.pe, answer.sequence, answer.executed, [this](OpCell& cell) {
      EXPECT_EQ(cell.fetch, nullptr) << "a fetch ends with its value";
      outbox_.remove(cells_, cell);
      close(cell);
    });
  }

  void close(OpCell& cell) {
    const auto found = open_.find(cell.index);
    ASSERT_NE(found, open_.end()) << "answered twice";
    ASSERT_TRUE((executed_[{found->second.pe, found->second.id}])) << "answered and not executed";
    open_.erase(found);
    cells_.give(cell);
  }

  std::mt19937 random_;
  CellPool cells_{1024};
  Outbox outbox_;
  std::deque<Inbox> inboxes_;  ///< by target
  std::vector<uint64_t> ids_;  ///< by target: the next request's
  std::vector<Request> requests_;
  std::vector<Answered> answers_;
  std::vector<Answered> late_;
  std::map<uint32_t, Request> open_;  ///< by cell
  std::map<std::pair<int, uint64_t>, bool> executed_;
  uint64_t fetched_ = 0;
  uint64_t asked_ = 0;
  uint64_t repeated_ = 0;
  uint32_t furthest_ = 0;
};

void exchange(unsigned seed, uint32_t first) {
  SCOPED_TRACE(seed);
  Exchange exchange(seed, first);
  for (int i = 0; i < 40000 && !testing::Test::HasFailure(); ++i) exchange.step();
  exchange.fail_unless_idle();
  exchange.receive_late();
  exchange.fail_unless_idle();
  EXPECT_GT(exchange.asked(), 5000u) << "so little proves nothing";
  EXPECT_GT(exchange.repeated(), 500u);
  EXPECT_GT(exchange.furthest(), 64u) << "the test wants requests beyond what one acknowledgement tells";
}

TEST(RequestWindow, EveryRequestIsExecutedOnceAndAnswered) {
  for (unsigned seed = 1; seed <= 10 && !testing::Test::HasFailure(); ++seed) exchange(seed, 0);
}
TEST(RequestWindow, NumbersMayWrapAround) {
  for (unsigned seed = 1; seed <= 5 && !testing::Test::HasFailure(); ++seed) exchange(seed, ~uint32_t{0} - 300 * seed);
}

TEST(RequestWindow, AcknowledgementFromBeforeTheWindowCoversNothing) {
  CellPool cells(1024);
  Outbox outbox(2);
  const auto ask = [&] { outbox.add(cells, *cells.take({OpKind::amo, 1, 8})); };
  const auto acknowledge = [&](uint32_t first_missing) {
    size_t n = 0;
    outbox.acknowledge(cells, 1, first_missing, 0, [&](OpCell& cell) {
      outbox.remove(cells, cell);
      cells.give(cell);
      ++n;
    });
    return n;
  };
  for (uint32_t i = 0; i < 10 * kWindow; ++i) {
    ask();
    ASSERT_EQ(acknowledge(i + 1), 1u);
  }
  for (int i = 0; i < 5; ++i) ask();
  for (const uint32_t old : {0u, 1u, kWindow, 9 * kWindow, 10 * kWindow}) EXPECT_EQ(acknowledge(old), 0u) << old;
  EXPECT_EQ(outbox.total(), 5u);
}

TEST(RequestWindow, OnlyAFullWindowHasNoRoom) {
  CellPool cells(1024);
  Outbox outbox(2);
  EXPECT_EQ(outbox.newest(1, cells), nullptr);
  for (uint32_t i = 0; i < kWindow; ++i) {
    ASSERT_TRUE(outbox.has_room(1, cells)) << i;
    outbox.add(cells, *cells.take({OpKind::amo, 1, 8}));
    ASSERT_EQ(outbox.newest(1, cells)->sequence, i);
  }
  EXPECT_FALSE(outbox.has_room(1, cells));
  EXPECT_TRUE(outbox.has_room(0, cells));
  // All but the oldest answered: the target still has to know every number of the window.
  std::vector<OpCell*> answered;
  outbox.for_each(cells, 1, [&](OpCell& cell) { answered.push_back(&cell); });
  ASSERT_EQ(answered.size(), kWindow);
  for (size_t i = kWindow; i-- > 1;) {
    outbox.remove(cells, *answered[i]);
    cells.give(*answered[i]);
  }
  EXPECT_FALSE(outbox.has_room(1, cells));
  EXPECT_EQ(outbox.newest(1, cells)->sequence, 0u);
  EXPECT_EQ(outbox.describe(cells), "1 atomics or signals unanswered, 1 of them by PE 1");
  outbox.remove(cells, *answered[0]);
  EXPECT_TRUE(outbox.has_room(1, cells));
  EXPECT_EQ(outbox.newest(1, cells), nullptr);
  EXPECT_EQ(outbox.next(1), kWindow);
  EXPECT_EQ(outbox.describe(cells), "");
}

TEST(RequestWindow, NumbersOfNoSourceAreImpossible) {
  Inbox inbox(2, ports_with(1), true);
  EXPECT_EQ(inbox.note(kSource, kWindow), Inbox::Arrival::impossible);
  EXPECT_EQ(inbox.note(kSource, kWindow - 1), Inbox::Arrival::first);
  EXPECT_EQ(inbox.note(kSource, kWindow - 1), Inbox::Arrival::repeated);
  EXPECT_EQ(inbox.note(kSource, ~uint32_t{0}), Inbox::Arrival::repeated) << "just before the window";
  EXPECT_EQ(inbox.note({1, Port::proxy}, 0), Inbox::Arrival::first) << "another endpoint";
  EXPECT_EQ(inbox.state(kSource).first_missing, 0u);
  EXPECT_EQ(inbox.state({1, Port::proxy}).first_missing, 1u);
}

}  // namespace
}  // namespace railshmem::test
