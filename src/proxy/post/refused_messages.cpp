// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/post/refused_messages.h"

#include <exception>

#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem {
namespace {

constexpr uint64_t kPeriodNs = 10'000'000'000;

constexpr const char* kKindNames[kMessageKinds] = {
    "amo",         "put_signal", "signal",  "flag", "get",  "descriptor", "staged_put", "staged_get",
    "acknowledge", "reply",      "replies", "data", "ping", "pong",       "inquiry",    "account"};

/// Who reads this must find out where the message came from.
const char* remedy(Flaw flaw) noexcept {
  switch (flaw) {
    case Flaw::nonce:
      return "another job or a foreign process sends to this PE's port; see docs/security.md";
    case Flaw::place:
      return "check that all PEs use the same symmetric sizes and executable";
    default:
      return "it was damaged on its way, or a foreign process sent it; see docs/security.md";
  }
}

}  // namespace

const char* describe(Flaw flaw) noexcept {
  switch (flaw) {
    case Flaw::none:
      return "it is correct";
    case Flaw::length:
      return "its length does not fit its kind";
    case Flaw::nonce:
      return "it does not carry this job's nonce";
    case Flaw::kind:
      return "this endpoint takes no message of this kind";
    case Flaw::sender:
      return "this job has no such PE or port";
    case Flaw::field:
      return "one of its fields has a value that does not exist";
    case Flaw::place:
      return "it names memory that this PE does not have";
    case Flaw::answer:
      return "it answers no operation of this PE";
    case Flaw::sequence:
      return "its sequence number cannot have been used yet";
  }
  return "?";
}

std::string describe_refused(Flaw flaw, const std::byte* bytes, size_t nbytes, const std::string& rail) {
  std::string what = text("a message of %zu bytes", nbytes);
  if (nbytes >= sizeof(MessageHeader)) {
    const auto header = read_message<MessageHeader>(bytes);
    const auto kind = static_cast<size_t>(header.kind);
    if (flaw != Flaw::nonce && kind < kMessageKinds) what += text(" (%s)", kKindNames[kind]);
    what += text(" that claims to come from PE %d", header.pe);
  }
  return text("rail %s dropped %s: %s; %s", rail.c_str(), what.c_str(), describe(flaw), remedy(flaw));
}

void RefusedMessages::add(Flaw flaw, const std::byte* bytes, size_t nbytes, const std::string& rail,
                          uint64_t now_ns) noexcept {
  ++count_;
  if (count_ > 1 && now_ns - told_ns_ < kPeriodNs) return;
  const uint64_t more = count_ - told_ - 1;
  told_ns_ = now_ns;
  told_ = count_;
  try {
    const std::string line = describe_refused(flaw, bytes, nbytes, rail);
    if (more == 0)
      log_warn("%s", line.c_str());
    else
      log_warn("%s (%llu more since the last warning)", line.c_str(), static_cast<unsigned long long>(more));
  } catch (const std::exception&) {
    // without memory for the text the count must do
  }
}

}  // namespace railshmem
