// SPDX-License-Identifier: BSD-3-Clause
// Failover executes a signal or an AMO exactly once and never before its data: every order of events of one operation
// over two rails that die, as a graph of states. The states of the operation and what the replay does in them are the
// real ones (src/proxy/post/operation_state.h); rails, target and the stages of a recovery are modelled.
#include <gtest/gtest.h>

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "src/proxy/post/operation_state.h"

namespace railshmem {
namespace {

constexpr int kRails = 2;
constexpr int kMostPackets = 3;  ///< of each kind under way on a rail
constexpr int kDeaths = 3;       ///< of rails, in one run

enum class Shape : uint8_t {
  follows,  ///< a put_signal on a rail that keeps order: the signal follows its data at once
  waits,    ///< a put_signal whose signal is sent when its data has arrived
  request,  ///< an AMO without data
};
enum class Stage : uint8_t { none, releasing, quarantine, inquiring, asked, replaying };

struct Rail {
  bool up = true;
  std::array<uint8_t, 4> packets{};  ///< under way to the target, in order: 1 data, 2 request; 0: no more
  uint8_t answers = 0;               ///< under way to the initiator
  bool event_due = false;            ///< the data has arrived and the provider has not said so
  auto operator<=>(const Rail&) const = default;
};

struct World {
  State state = State::idle;
  uint8_t parts_left = 0;
  uint8_t rail = 0;  ///< of the data, or of the request, whichever was posted last
  bool begun = false, done = false, deferred = false;
  Stage stage = Stage::none;
  uint8_t recovered = 0;  ///< the rails of the recovery, a bit each
  bool account = false;   ///< what the target said
  bool arrived = false;   ///< the data is in the target's memory
  uint8_t executed = 0;
  uint8_t deaths = 0;
  std::array<Rail, kRails> rails{};
  auto operator<=>(const World&) const = default;
};

struct Fault {
  std::string what;
};
void require(bool good, const char* what) {
  if (!good) throw Fault{what};
}

class Run {
 public:
  explicit Run(Shape shape) : shape_(shape) {}

  /// All states that may come after `world`, with what happens.
  std::vector<std::pair<std::string, World>> after(const World& world) const {
    std::vector<std::pair<std::string, World>> found;
    const auto may = [&](const std::string& what, const std::function<bool(World&)>& step) {
      World next = world;
      if (step(next) && next != world) found.emplace_back(what, next);
    };
    for (uint8_t r = 0; r < kRails; ++r) {
      const std::string on = " on rail " + std::to_string(r);
      may("begin" + on, [&](World& w) { return begin(w, r); });
      may("delivery" + on, [&](World& w) { return deliver(w, r); });
      may("loss of a packet" + on, [&](World& w) { return drop(w, r); });
      may("event" + on, [&](World& w) { return event(w, r); });
      may("answer" + on, [&](World& w) { return answer(w, r); });
      may("death" + on, [&](World& w) { return die(w, r); });
      may("failed event" + on, [&](World& w) { return strand(w, r); });
      may("return" + on, [&](World& w) { return reopen(w, r); });
      may("deferred signal" + on, [&](World& w) { return send_deferred(w, r); });
      may("replay" + on, [&](World& w) { return replay(w, r); });
    }
    may("doubt about an answer", [&](World& w) { return ask(w); });
    may("released", [&](World& w) { return released(w); });
    may("end of quarantine", [&](World& w) { return end_quarantine(w); });
    may("account", [&](World& w) { return take_account(w); });
    may("account arrives", [&](World& w) { return begin_replay(w); });
    return found;
  }

 private:
  template <Event kEvent>
  static void on(World& w) {
    require(may_come(kEvent, w.state), "an event comes in a state without an edge for it");
    w.state = next(w.state, kEvent);
  }
  /// The state with its real questions.
  static OperationState real(const World& w) { return OperationState(w.state); }

  static bool push(World& w, uint8_t r, uint8_t packet) {
    auto& packets = w.rails[r].packets;
    for (int i = 0; i < kMostPackets; ++i)
      if (packets[static_cast<size_t>(i)] == 0) {
        packets[static_cast<size_t>(i)] = packet;
        return true;
      }
    return false;
  }
  static uint8_t pop(World& w, uint8_t r) {
    auto& packets = w.rails[r].packets;
    const uint8_t first = packets[0];
    for (size_t i = 0; i + 1 < packets.size(); ++i) packets[i] = packets[i + 1];
    return first;
  }
  static bool is_recovered(const World& w, uint8_t r) { return (w.recovered >> r) & 1; }

  // ---- the initiator -----------------------------------------------------------------------------------------------

  bool begin(World& w, uint8_t r) const {
    if (w.begun || !w.rails[r].up) return false;
    w.begun = true;
    w.rail = r;
    if (shape_ == Shape::request) {
      push(w, r, 2);
      on<Event::send>(w);
      return true;
    }
    push(w, r, 1);
    on<Event::post>(w);
    w.parts_left = 1;
    on<Event::owe_signal>(w);
    if (shape_ == Shape::follows && w.stage == Stage::none) {  // Requests::follow_with_signal
      push(w, r, 2);
      on<Event::send>(w);
    }
    return true;
  }
  /// Initiator::finish_part and finish_data.
  static void finish_part(World& w) {
    if (--w.parts_left > 0) return;
    const OperationState state = real(w);
    if (state.has_no_request()) {
      w.done = true;
    } else if (state.owes_signal()) {
      w.deferred = true;
    }
  }
  /// Requests::settle and Initiator::answered.
  static void settle(World& w) {
    on<Event::answer>(w);
    if (w.parts_left == 0) w.done = true;
  }
  bool event(World& w, uint8_t r) const {
    if (!w.rails[r].event_due || w.done) return false;
    w.rails[r].event_due = false;
    on<Event::arrive>(w);
    finish_part(w);
    return true;
  }
  bool answer(World& w, uint8_t r) const {
    if (w.rails[r].answers == 0) return false;
    --w.rails[r].answers;
    if (!w.done && real(w).awaits_answer()) settle(w);
    return true;
  }
  /// Requests::post_deferred_signal: not while the peer is recovered.
  bool send_deferred(World& w, uint8_t r) const {
    if (!w.deferred || w.stage != Stage::none || !w.rails[r].up) return false;
    if (!push(w, r, 2)) return false;
    w.deferred = false;
    w.rail = r;
    on<Event::send>(w);
    return true;
  }

  // ---- the rails and the target ------------------------------------------------------------------------------------

  bool deliver(World& w, uint8_t r) const {
    Rail& rail = w.rails[r];
    const uint8_t packet = pop(w, r);
    if (packet == 0) return false;
    if (packet == 1) {
      require(w.executed == 0, "data is written after its signal was seen");
      w.arrived = true;
      if (rail.up) rail.event_due = true;
      return true;
    }
    if (w.executed == 0) {
      require(shape_ == Shape::request || w.arrived, "the signal is seen before its data");
      ++w.executed;
    }
    // The target knows the number of a request that it has executed, and only answers again. Where the initiator does
    // not listen to the rail any more, the answer is lost.
    if (rail.up && rail.answers < kMostPackets) ++rail.answers;
    return true;
  }
  /// A dead rail may lose packets or deliver them late. It keeps their order: what is behind a lost one is lost too.
  static bool drop(World& w, uint8_t r) {
    auto& packets = w.rails[r].packets;
    if (w.rails[r].up || packets[0] == 0) return false;
    size_t last = 0;
    while (packets[last + 1] != 0) ++last;
    packets[last] = 0;
    return true;
  }

  /// The path dies: Failover::down. The other one must live, or nothing could go on.
  bool die(World& w, uint8_t r) const {
    if (!w.begun || w.done || w.deaths == kDeaths || !w.rails[r].up || !w.rails[1 - r].up) return false;
    ++w.deaths;
    w.rails[r].up = false;
    w.rails[r].answers = 0;
    w.recovered = static_cast<uint8_t>((w.recovered & ~(w.rails[0].up | w.rails[1].up << 1)) | 1 << r);
    w.stage = Stage::releasing;
    return true;
  }
  /// The provider gives back what the dead rail holds, delivered or not: Failover::strand.
  bool strand(World& w, uint8_t r) const {
    if (w.rails[r].up || w.done || w.rail != r || !real(w).in_flight()) return false;
    w.rails[r].event_due = false;
    on<Event::lose_data>(w);
    return true;
  }
  /// PathWatch takes a path back unless a recovery still looks for its operations: Failover::holds_back.
  bool reopen(World& w, uint8_t r) const {
    if (w.rails[r].up || (w.stage != Stage::none && w.stage < Stage::inquiring)) return false;
    if (w.rails[r].packets[0] != 0) return false;  // the quarantine has seen to that
    w.rails[r].up = true;
    return true;
  }

  // ---- the recovery ------------------------------------------------------------------------------------------------

  /// No answer for long, though all paths live: Failover::inquire_alive.
  bool ask(World& w) const {
    if (w.done || w.stage != Stage::none || !real(w).is_sent()) return false;
    w.recovered = (1 << kRails) - 1;
    on<Event::lose_request>(w);
    w.stage = Stage::inquiring;
    return true;
  }
  bool released(World& w) const {
    if (w.stage != Stage::releasing) return false;
    if (is_recovered(w, w.rail) && !w.done && real(w).in_flight()) return false;
    w.stage = Stage::quarantine;
    return true;
  }
  bool end_quarantine(World& w) const {
    if (w.stage != Stage::quarantine) return false;
    for (uint8_t r = 0; r < kRails; ++r)
      if (is_recovered(w, r) && w.rails[r].packets[0] != 0) return false;
    if (!w.done && real(w).is_sent() && is_recovered(w, w.rail)) on<Event::lose_request>(w);
    w.stage = Stage::inquiring;
    return true;
  }
  bool take_account(World& w) const {
    if (w.stage != Stage::inquiring) return false;
    w.account = w.executed > 0;
    w.stage = Stage::asked;
    return true;
  }
  bool begin_replay(World& w) const {
    if (w.stage != Stage::asked) return false;
    w.stage = Stage::replaying;
    return true;
  }
  /// One call of Replay::data and Replay::requests, whose posts take rail `r`.
  bool replay(World& w, uint8_t r) const {
    if (w.stage != Stage::replaying || !w.rails[r].up) return false;
    const bool complete = w.done || (replay_data(w, r) && replay_request(w, r));
    if (complete) {
      w.stage = Stage::none;
      w.recovered = 0;
      w.account = false;
    }
    return true;
  }
  bool replay_data(World& w, uint8_t r) const {
    if (!real(w).data_is_lost()) return true;
    if (real(w).data_was_used(w.account)) {
      on<Event::drop_data>(w);
      finish_part(w);
      return true;
    }
    if (!push(w, r, 1)) return false;
    w.rail = r;
    on<Event::post>(w);
    return true;
  }
  bool replay_request(World& w, uint8_t r) const {
    if (w.done || !real(w).awaits_answer()) return true;
    if (real(w).is_sent()) {
      if (!real(w).data_is_lost() && w.account) settle(w);
      return true;
    }
    switch (real(w).step_of_request(w.account)) {
      case OperationState::RequestStep::settle:
        settle(w);
        return true;
      case OperationState::RequestStep::wait:
        return false;
      case OperationState::RequestStep::resend:
        break;
    }
    if (!push(w, r, 2)) return false;
    w.rail = r;
    on<Event::resend>(w);
    return true;
  }

  const Shape shape_;
};

/// Walks the whole graph. Checks each state, and that each leads to a good end.
size_t explore(Shape shape) {
  const Run run(shape);
  struct Node {
    size_t from;
    std::string what;
    std::vector<size_t> before;
    bool ends;
  };
  std::map<World, size_t> numbers{{World{}, 0}};
  std::vector<Node> nodes{{0, "start", {}, false}};
  std::vector<World> worlds{World{}};
  const auto trace = [&](size_t node) {
    std::string text;
    for (; node != 0; node = nodes[node].from) text = nodes[node].what + "; " + text;
    return text;
  };
  for (size_t at = 0; at < worlds.size(); ++at) {
    const World world = worlds[at];
    if (world.done && (world.executed != 1 || (shape != Shape::request && !world.arrived))) {
      ADD_FAILURE() << "the operation ends without its effect: " << trace(at);
      return worlds.size();
    }
    std::vector<std::pair<std::string, World>> found;
    try {
      found = run.after(world);
    } catch (const Fault& fault) {
      ADD_FAILURE() << fault.what << ", after: " << trace(at) << " in the state '" << name_of(world.state) << "'";
      return worlds.size();
    }
    for (auto& [what, next] : found) {
      const auto [place, is_new] = numbers.insert({next, worlds.size()});
      if (is_new) {
        worlds.push_back(next);
        nodes.push_back({at, what, {}, false});
      }
      nodes[place->second].before.push_back(at);
    }
  }
  // Backwards from the good ends.
  std::vector<size_t> open;
  for (size_t i = 0; i < worlds.size(); ++i)
    if (worlds[i].done) {
      nodes[i].ends = true;
      open.push_back(i);
    }
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    for (const size_t before : nodes[at].before)
      if (!nodes[before].ends) {
        nodes[before].ends = true;
        open.push_back(before);
      }
  }
  for (size_t i = 0; i < worlds.size(); ++i)
    if (!nodes[i].ends) {
      ADD_FAILURE() << "the operation never ends, after: " << trace(i) << " in the state '" << name_of(worlds[i].state)
                    << "'";
      return worlds.size();
    }
  ::testing::Test::RecordProperty("states", std::to_string(worlds.size()));
  return worlds.size();
}

TEST(FailoverModel, APutSignalWhoseSignalFollowsItsDataHappensOnce) {
  EXPECT_GT(explore(Shape::follows), 500u);
}

TEST(FailoverModel, APutSignalWhoseSignalWaitsHappensOnce) {
  EXPECT_GT(explore(Shape::waits), 500u);
}

TEST(FailoverModel, ARequestHappensOnce) {
  EXPECT_GT(explore(Shape::request), 100u);
}

}  // namespace
}  // namespace railshmem
