// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/relay_talk.h"

#include <unistd.h>

#include <algorithm>

#include "bootstrap/local/oshrun/relay_protocol.h"

namespace railshmem::oshrun {

RelayMessage RelayTalk::read(const Frame& frame) {
  must_be_in_turn(frame.kind);
  Unpacker fields(frame.payload);
  RelayMessage message{.kind = frame.kind};
  switch (frame.kind) {
    case relay::ready:
    case relay::note:
      message.text = fields.get_text();
      break;
    case relay::failed:
      message.number = fields.get<int>();
      message.text = fields.get_text();
      break;
    case relay::input_taken:
    case relay::done:
      break;
    default:
      read_pe(fields, message);
  }
  return message;
}

void RelayTalk::must_be_in_turn(uint32_t kind) {
  if (kind < relay::ready || kind > relay::done) throw Error(text("it sent a message of the unknown kind %u", kind));
  if (kind == relay::ready && ready_) throw Error("it said twice that it is ready");
  if (kind != relay::ready && !ready_) throw Error("it sent a message before it said that it is ready");
  ready_ = true;
  const auto runs = std::find(ended_.begin(), ended_.end(), false);
  if (kind == relay::done && runs != ended_.end())
    throw Error(text("it said that all PEs have ended, but not how PE %d has",
                     first_ + static_cast<int>(runs - ended_.begin())));
}

void RelayTalk::read_pe(Unpacker& fields, RelayMessage& message) {
  message.pe = fields.get<int>();
  const int64_t place = int64_t{message.pe} - first_;
  if (place < 0 || place >= static_cast<int64_t>(ended_.size()))
    throw Error(text("it speaks for PE %d, which is not there", message.pe));
  const auto ended = ended_.begin() + static_cast<std::ptrdiff_t>(place);
  if (message.kind == relay::output) {  // also after the end of the PE
    message.number = fields.get<int>() == STDOUT_FILENO ? STDOUT_FILENO : STDERR_FILENO;
    message.output = fields.rest();
    return;
  }
  if (*ended) throw Error(text("it speaks for PE %d, which has ended", message.pe));
  if (message.kind == relay::from_pe) {
    message.message.kind = fields.get<uint32_t>();
    message.message.payload.assign(fields.rest().begin(), fields.rest().end());
  } else {  // exited
    message.pid = fields.get<pid_t>();
    message.number = fields.get<int>();
    *ended = true;
  }
}

}  // namespace railshmem::oshrun
