// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/post/operation_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace railshmem {
namespace {

/// Gives an event that is known at run time to a state.
void give(OperationState& state, Event event) {
  [&]<size_t... kEvent>(std::index_sequence<kEvent...>) {
    ((static_cast<size_t>(event) == kEvent ? state.on<static_cast<Event>(kEvent)>() : void()), ...);
  }
  (std::make_index_sequence<kEvents>());
}

std::vector<Event> all_events() {
  std::vector<Event> events;
  for (size_t e = 0; e < kEvents; ++e) events.push_back(static_cast<Event>(e));
  return events;
}

std::set<State> states_of_table() {
  std::set<State> states;
  for (const Transition& edge : kTransitions) states.insert({edge.from, edge.to});
  return states;
}

/// The events that lead from idle to each state that can be reached.
std::map<State, std::vector<Event>> ways_from_idle() {
  std::map<State, std::vector<Event>> ways{{State::idle, {}}};
  for (bool grown = true; grown;) {
    grown = false;
    for (const Transition& edge : kTransitions) {
      if (!ways.contains(edge.from) || ways.contains(edge.to)) continue;
      ways[edge.to] = ways[edge.from];
      ways[edge.to].push_back(edge.event);
      grown = true;
    }
  }
  return ways;
}

TEST(OperationState, EveryEdgeOfTheTableIsWalked) {
  const auto ways = ways_from_idle();
  for (const Transition& edge : kTransitions) {
    SCOPED_TRACE(std::string(name_of(edge.from)) + ", " + name_of(edge.event));
    ASSERT_TRUE(ways.contains(edge.from));
    OperationState state;
    for (const Event event : ways.at(edge.from)) give(state, event);
    ASSERT_EQ(state.now(), edge.from);
    give(state, edge.event);
    EXPECT_EQ(state.now(), edge.to);
  }
}

TEST(OperationState, TheTableHasEachEdgeOnceAndEachStateHasAName) {
  std::set<std::pair<State, Event>> seen;
  for (const Transition& edge : kTransitions)
    EXPECT_TRUE(seen.insert({edge.from, edge.event}).second) << name_of(edge.from) << ", " << name_of(edge.event);
  std::set<std::string> names;
  for (const State state : states_of_table()) names.insert(name_of(state));
  EXPECT_EQ(names.size(), 13u);
  EXPECT_EQ(names.count("?"), 0u);
  for (const Event event : all_events()) EXPECT_STRNE(name_of(event), "?");
}

TEST(OperationState, EveryStateIsReachedAndLeadsToTheEnd) {
  EXPECT_EQ(ways_from_idle().size(), states_of_table().size());
  // A put of one write ends in its state "posted as a whole"; all others end idle.
  std::set<State> ends{State::idle, State::posted_whole};
  for (bool grown = true; grown;) {
    grown = false;
    for (const Transition& edge : kTransitions) grown |= ends.contains(edge.to) && ends.insert(edge.from).second;
  }
  EXPECT_EQ(ends, states_of_table());
}

// A loss is only of what is under way: nothing that has ended, or is known to be lost, is lost again.
TEST(OperationState, OnlyWhatIsUnderWayIsLost) {
  for (const State state : states_of_table()) {
    const unsigned data = static_cast<unsigned>(state) & 3;
    EXPECT_EQ(may_come(Event::lose_data, state), data == 1 || data == 2) << name_of(state);
    EXPECT_EQ(may_come(Event::lose_request, state), (static_cast<unsigned>(state) & ~3u) == 8) << name_of(state);
  }
}

// A signal must not pass data that goes again: neither is it sent then, nor sent again.
TEST(OperationState, NoRequestGoesWhileDataIsLost) {
  for (const State state : states_of_table()) {
    if ((static_cast<unsigned>(state) & 3) != 3) continue;
    EXPECT_FALSE(may_come(Event::send, state)) << name_of(state);
    EXPECT_FALSE(may_come(Event::resend, state)) << name_of(state);
  }
}

// Whether a put_signal's data goes again, and its request: the three cases of each.
TEST(OperationState, ReplayNeitherSkipsNorRepeats) {
  const auto in = [](std::vector<Event> events) {
    OperationState state;
    for (const Event event : events) give(state, event);
    return state;
  };
  const OperationState owed = in({Event::post, Event::owe_signal, Event::lose_data});
  EXPECT_FALSE(owed.data_was_used(true));  // `executed` is of another request: this one was not sent
  const OperationState both = in({Event::post, Event::owe_signal, Event::send, Event::lose_data, Event::lose_request});
  EXPECT_FALSE(both.data_was_used(false));
  EXPECT_TRUE(both.data_was_used(true));
  const OperationState answered = in({Event::post, Event::owe_signal, Event::send, Event::lose_data, Event::answer});
  EXPECT_TRUE(answered.data_was_used(false));

  using Step = OperationState::RequestStep;
  EXPECT_EQ(both.step_of_request(true), Step::settle);
  EXPECT_EQ(both.step_of_request(false), Step::wait);
  OperationState again = both;
  give(again, Event::post);
  EXPECT_EQ(again.step_of_request(false), Step::wait);
  give(again, Event::arrive);
  EXPECT_EQ(again.step_of_request(false), Step::resend);
}

TEST(OperationStateDeathTest, AnEventThatMayNotComeEndsThePe) {
  for (const Event event : {Event::lose_data, Event::lose_request, Event::resend, Event::drop_data}) {
    OperationState state;
    ASSERT_FALSE(may_come(event, state.now()));
    EXPECT_DEATH(give(state, event),
                 ::testing::HasSubstr(std::string("got the event '") + name_of(event) + "' in the state 'idle'"));
  }
}

}  // namespace
}  // namespace railshmem
