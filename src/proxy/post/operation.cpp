// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/post/operation.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "src/base/death_detector.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/quantity.h"
#include "src/base/system_limits.h"

namespace railshmem {
namespace {

/// With the limit of this process that may be behind it.
std::string reason(int error) {
  return refusal_text(std::abs(error));
}

/// What to look at: the peer's death where one is known, otherwise `otherwise`.
std::string advice(const std::string& otherwise) {
  const std::string death = detected_death();
  return death.empty() ? otherwise : death + "; see that PE's own output";
}

}  // namespace

std::string describe(const Operation& operation) {
  const int pe = operation.pe;
  const std::string n = counted(operation.nbytes, "byte");
  switch (operation.kind) {
    case OpKind::put:
    case OpKind::staged_put:
      return text("put of %s to PE %d", n.c_str(), pe);
    case OpKind::get:
    case OpKind::staged_get:
      return text("get of %s from PE %d", n.c_str(), pe);
    case OpKind::put_signal:
      return text("put_signal of %s to PE %d", n.c_str(), pe);
    case OpKind::signal:
      return text("signal to PE %d", pe);
    case OpKind::amo:
      return text("atomic operation on %s at PE %d", n.c_str(), pe);
    case OpKind::flag:
      return text("flag to PE %d", pe);
    case OpKind::staged_piece:
      return text("piece of %s between staged memory and PE %d", n.c_str(), pe);
    case OpKind::answer:
      return text("answer to PE %d", pe);
    case OpKind::flush:
      return "flush of what has arrived here";
    case OpKind::quiet:
      return pe < 0 ? "quiet" : text("quiet towards PE %d", pe);
    case OpKind::fence:
      return text("operation to PE %d behind a fence", pe);
    case OpKind::none:
      break;
  }
  return "operation";
}

void die_without_progress(const Operation& operation, const std::string& rail, double timeout_s,
                          const std::string& detail) noexcept {
  die("%s over %s: no progress for %g s%s%s%s; %s", describe(operation).c_str(), rail.c_str(), timeout_s,
      detail.empty() ? "" : ": ", detail.c_str(), limits_behind(ETIMEDOUT).c_str(),
      advice("the peer is stopped, dead or unreachable (a larger SHMEM_TIMEOUT waits longer)").c_str());
}

void die_failed(const Operation& operation, const std::string& rail, int error) noexcept {
  const std::string otherwise =
      text("look for an earlier message of PE %d, or check the network between the two hosts", operation.pe);
  die("%s over %s failed: %s; %s", describe(operation).c_str(), rail.c_str(), reason(error).c_str(),
      advice(otherwise).c_str());
}

void die_rail_failed(const std::string& rail, int error, const std::string& detail) noexcept {
  die("rail %s failed: %s%s%s; %s", rail.c_str(), reason(error).c_str(), detail.empty() ? "" : ", with outstanding ",
      detail.c_str(),
      advice("look for an earlier message of another PE, or check this host's network interface").c_str());
}

void die_too_late(const Operation* operation) noexcept {
  die("%s was still under way when another thread of this PE finalized the library; every call must return before "
      "shmem_finalize is called",
      operation ? describe(*operation).c_str() : "a call that uses the network");
}

}  // namespace railshmem
