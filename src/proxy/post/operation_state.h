// SPDX-License-Identifier: BSD-3-Clause
// The state of an operation: what its rail and its target still owe. It changes by events, and a table says which event
// may come in which state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace railshmem {

/// Two questions make a state: where the data is, and where the request is. A request is what the target executes and
/// answers: a message of its own, or the signal of a put_signal.
///
///     request \ data      not under way   posted, one event is due   lost with its rail
///     none                idle            posted, posted_whole       data_lost
///     after the data      owed            owed_posted                owed_data_lost
///     sent                sent            sent_posted                sent_data_lost
///     lost with its rail  request_lost    request_lost_posted        both_lost
///
/// An operation whose pieces are cells of their own is itself "not under way". The message that carries a request
/// counts as data until the rail has taken it over.
enum class State : uint8_t {
  idle = 0,
  posted = 1,
  posted_whole = 2,  ///< a put of one write: the event ends the operation
  data_lost = 3,     ///< Replay posts the data again
  owed = 4,          ///< the signal goes when all data is complete
  owed_posted = 5,
  owed_data_lost = 7,
  sent = 8,  ///< in the outbox until the target answers
  sent_posted = 9,
  sent_data_lost = 11,
  request_lost = 12,  ///< in the outbox: Replay sends the request again unless the target has executed it
  request_lost_posted = 13,
  both_lost = 15,
};
inline constexpr size_t kStates = 16;  ///< one more than the last number

enum class Event : uint8_t {
  post,          ///< the rail took a write, a read or a message whose end it tells
  post_whole,    ///< the same, and nothing but its end is waited for
  swallow,       ///< a post to a peer that has died, or may have died: no rail has it
  arrive,        ///< the rail told the end of what was posted
  lose_data,     ///< the rail died before the arrival of the data was known
  lose_carrier,  ///< the rail died with a message that is sent again as a request, or not at all
  drop_data,     ///< the lost data is not needed: its signal was executed, or its peer has died
  owe_signal,    ///< a put_signal whose signal follows its data
  send,          ///< the request goes, for the first time
  answer,        ///< the target has executed the request
  lose_request,  ///< the request's rail died before an answer
  resend,        ///< the request goes again
};
inline constexpr size_t kEvents = 12;

/// One edge of the table.
struct Transition {
  State from;
  Event event;
  State to;
};
// clang-format off
inline constexpr std::array kTransitions{
    Transition{State::idle, Event::post, State::posted},
    Transition{State::data_lost, Event::post, State::posted},
    Transition{State::owed, Event::post, State::owed_posted},  // the message of the signal
    Transition{State::owed_data_lost, Event::post, State::owed_posted},
    Transition{State::sent_data_lost, Event::post, State::sent_posted},
    Transition{State::request_lost, Event::post, State::request_lost_posted},
    Transition{State::both_lost, Event::post, State::request_lost_posted},

    Transition{State::idle, Event::post_whole, State::posted_whole},

    Transition{State::idle, Event::swallow, State::posted},
    Transition{State::posted, Event::swallow, State::posted},
    Transition{State::posted_whole, Event::swallow, State::posted},
    Transition{State::owed, Event::swallow, State::owed_posted},
    Transition{State::owed_posted, Event::swallow, State::owed_posted},
    Transition{State::sent, Event::swallow, State::sent_posted},
    Transition{State::sent_posted, Event::swallow, State::sent_posted},

    Transition{State::posted, Event::arrive, State::idle},
    Transition{State::owed_posted, Event::arrive, State::owed},
    Transition{State::sent_posted, Event::arrive, State::sent},
    Transition{State::request_lost_posted, Event::arrive, State::request_lost},

    Transition{State::posted, Event::lose_data, State::data_lost},
    Transition{State::posted_whole, Event::lose_data, State::data_lost},
    Transition{State::owed_posted, Event::lose_data, State::owed_data_lost},
    Transition{State::sent_posted, Event::lose_data, State::sent_data_lost},
    Transition{State::request_lost_posted, Event::lose_data, State::both_lost},

    Transition{State::posted, Event::lose_carrier, State::idle},
    Transition{State::sent_posted, Event::lose_carrier, State::sent},
    Transition{State::request_lost_posted, Event::lose_carrier, State::request_lost},

    Transition{State::data_lost, Event::drop_data, State::idle},
    Transition{State::owed_data_lost, Event::drop_data, State::owed},
    Transition{State::sent_data_lost, Event::drop_data, State::sent},
    Transition{State::both_lost, Event::drop_data, State::request_lost},

    Transition{State::idle, Event::owe_signal, State::owed},
    Transition{State::posted, Event::owe_signal, State::owed_posted},

    Transition{State::idle, Event::send, State::sent},
    Transition{State::posted, Event::send, State::sent_posted},
    Transition{State::owed, Event::send, State::sent},
    Transition{State::owed_posted, Event::send, State::sent_posted},

    Transition{State::sent, Event::answer, State::idle},
    Transition{State::sent_posted, Event::answer, State::posted},
    Transition{State::sent_data_lost, Event::answer, State::data_lost},
    Transition{State::request_lost, Event::answer, State::idle},
    Transition{State::request_lost_posted, Event::answer, State::posted},
    Transition{State::both_lost, Event::answer, State::data_lost},

    Transition{State::sent, Event::lose_request, State::request_lost},
    Transition{State::sent_posted, Event::lose_request, State::request_lost_posted},
    Transition{State::sent_data_lost, Event::lose_request, State::both_lost},

    Transition{State::request_lost, Event::resend, State::sent},
    Transition{State::request_lost_posted, Event::resend, State::sent_posted},
};
// clang-format on

/// What `event` makes of a state in which it may come.
constexpr State next(State state, Event event) noexcept {
  constexpr unsigned kData = 3;
  const auto number = static_cast<unsigned>(state);
  const auto with_data = [number](State data) { return static_cast<State>((number & ~kData) | unsigned(data)); };
  const auto with_request = [number](State request) {
    return static_cast<State>((number & kData) | unsigned(request));
  };
  switch (event) {
    case Event::post:
    case Event::swallow:
      return with_data(State::posted);
    case Event::post_whole:
      return with_data(State::posted_whole);
    case Event::arrive:
    case Event::lose_carrier:
    case Event::drop_data:
      return with_data(State::idle);
    case Event::lose_data:
      return with_data(State::data_lost);
    case Event::owe_signal:
      return with_request(State::owed);
    case Event::send:
    case Event::resend:
      return with_request(State::sent);
    case Event::answer:
      return with_request(State::idle);
    case Event::lose_request:
      return with_request(State::request_lost);
  }
  return state;
}

/// The states in which `event` may come, a bit each.
constexpr uint32_t states_for(Event event) noexcept {
  uint32_t states = 0;
  for (const Transition& edge : kTransitions)
    if (edge.event == event) states |= uint32_t{1} << static_cast<unsigned>(edge.from);
  return states;
}
constexpr bool may_come(Event event, State state) noexcept {
  return (states_for(event) >> static_cast<unsigned>(state)) & 1;
}
static_assert(
    [] {
      for (const Transition& edge : kTransitions)
        if (next(edge.from, edge.event) != edge.to) return false;
      return true;
    }(),
    "next() follows the table");

/// For debug messages.
const char* name_of(State state) noexcept;
const char* name_of(Event event) noexcept;

/// Ends this PE: an operation can be lost or executed twice, which is a fault of this library.
[[noreturn, gnu::cold]] void die_of_event(State state, Event event) noexcept;

/// Whether operations get the event while all rails live.
constexpr bool is_common(Event event) noexcept {
  switch (event) {
    case Event::post:
    case Event::post_whole:
    case Event::arrive:
    case Event::owe_signal:
    case Event::send:
    case Event::answer:
      return true;
    default:
      return false;
  }
}

/// The state of one operation. One thread at a time.
class OperationState {
 public:
  constexpr OperationState() = default;
  constexpr explicit OperationState(State now) : state_(now) {}

  /// Common events are checked by builds with assertions only, those of failures by all.
  template <Event kEvent>
  [[gnu::always_inline]] void on() noexcept {
    constexpr uint32_t kMay = states_for(kEvent);
    if (kChecks || !is_common(kEvent))
      if (((kMay >> static_cast<unsigned>(state_)) & 1) == 0) [[unlikely]]
        die_of_event(state_, kEvent);
    state_ = next(state_, kEvent);
  }
  /// The operation is over, or given up.
  void clear() noexcept { state_ = State::idle; }

  State now() const noexcept { return state_; }
  /// Whether a rail will tell an event of what was posted last.
  bool in_flight() const noexcept { return data() == State::posted || data() == State::posted_whole; }
  bool is_whole() const noexcept { return state_ == State::posted_whole; }
  bool data_is_lost() const noexcept { return data() == State::data_lost; }
  bool has_data_to_come() const noexcept { return data() != State::idle; }
  bool has_no_request() const noexcept { return request() == State::idle; }
  bool owes_signal() const noexcept { return request() == State::owed; }
  bool is_sent() const noexcept { return request() == State::sent; }
  bool request_is_lost() const noexcept { return request() == State::request_lost; }
  /// Whether the request is in the outbox.
  bool awaits_answer() const noexcept { return state_ >= State::sent; }

  // What Replay does, by the target's account. `executed`: the target has executed the request.

  /// Of a put_signal whose data is lost: whether the data must not go again, because the signal was executed and its
  /// reader may be through.
  bool data_was_used(bool executed) const noexcept { return has_no_request() || (awaits_answer() && executed); }
  enum class RequestStep : uint8_t { settle, wait, resend };
  /// Of a lost request. It waits for its data and for the end of its first message, even where their rail lives: over
  /// another rail the request would pass them. A request whose answer has a value is never settled: the target repeats
  /// the answer.
  RequestStep step_of_request(bool executed) const noexcept {
    if (executed) return RequestStep::settle;
    return has_data_to_come() ? RequestStep::wait : RequestStep::resend;
  }

 private:
#ifdef NDEBUG
  static constexpr bool kChecks = false;
#else
  static constexpr bool kChecks = true;
#endif
  State data() const noexcept {
    return static_cast<State>(static_cast<unsigned>(state_) & 3);
  }
  State request() const noexcept {
    return static_cast<State>(static_cast<unsigned>(state_) & ~3u);
  }

  State state_ = State::idle;
};

}  // namespace railshmem
