// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/post/operation_state.h"

#include "src/base/log.h"

namespace railshmem {

const char* name_of(State state) noexcept {
  switch (state) {
    case State::idle:
      return "idle";
    case State::posted:
      return "posted";
    case State::posted_whole:
      return "posted as a whole";
    case State::data_lost:
      return "data lost";
    case State::owed:
      return "signal owed";
    case State::owed_posted:
      return "signal owed, data posted";
    case State::owed_data_lost:
      return "signal owed, data lost";
    case State::sent:
      return "request unanswered";
    case State::sent_posted:
      return "request unanswered, data posted";
    case State::sent_data_lost:
      return "request unanswered, data lost";
    case State::request_lost:
      return "request lost";
    case State::request_lost_posted:
      return "request lost, data posted";
    case State::both_lost:
      return "request and data lost";
  }
  return "?";
}

const char* name_of(Event event) noexcept {
  switch (event) {
    case Event::post:
      return "post";
    case Event::post_whole:
      return "post as a whole";
    case Event::swallow:
      return "post to a lost peer";
    case Event::arrive:
      return "arrival";
    case Event::lose_data:
      return "loss of the data";
    case Event::lose_carrier:
      return "loss of the message";
    case Event::drop_data:
      return "end of the lost data";
    case Event::owe_signal:
      return "signal after the data";
    case Event::send:
      return "request";
    case Event::answer:
      return "answer";
    case Event::lose_request:
      return "loss of the request";
    case Event::resend:
      return "repeated request";
  }
  return "?";
}

void die_of_event(State state, Event event) noexcept {
  die("internal error: an operation got the event '%s' in the state '%s'; please report this with the output of "
      "SHMEM_DEBUG=debug",
      name_of(event), name_of(state));
}

}  // namespace railshmem
