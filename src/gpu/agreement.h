// SPDX-License-Identifier: BSD-3-Clause
// Steps that all PEs take or none: each tells the others whether it could.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/plugin/bootstrap.h"

namespace railshmem {

/// What a PE brings to a step, or why it cannot take it. Plain bytes for an allgather.
template <class Value>
struct StepResult {
  Value value{};
  char why[424] = {};  ///< empty: it can

  bool ok() const noexcept { return why[0] == '\0'; }
};

/// The value of a step that has nothing to tell but that it was taken.
struct NoValue {};

/// Collective. Runs `body`, which returns this PE's value or throws, and exchanges the results.
template <class Value, class Body>
std::vector<StepResult<Value>> take_step(Bootstrap& bootstrap, Body&& body) {
  StepResult<Value> mine;
  try {
    mine.value = body();
  } catch (const std::exception& error) {
    const std::string why = error.what();
    const size_t n = std::min(why.size(), sizeof mine.why - 1);
    std::memcpy(mine.why, why.empty() ? "?" : why.data(), why.empty() ? 1 : n);
  }
  return exchange(bootstrap, mine);
}

/// The first PE that could not take the step, or -1.
template <class Value>
int first_failure(const std::vector<StepResult<Value>>& steps) noexcept {
  const auto failed =
      std::find_if(steps.begin(), steps.end(), [](const StepResult<Value>& step) { return !step.ok(); });
  return failed == steps.end() ? -1 : static_cast<int>(failed - steps.begin());
}

/// Throws Error that names the first PE that could not take the step, and its reason.
template <class Value>
void require_all(const std::vector<StepResult<Value>>& steps) {
  if (const int pe = first_failure(steps); pe >= 0)
    throw Error(text("PE %d: %s", pe, steps[static_cast<size_t>(pe)].why));
}

/// Collective. Runs `body`, which has no value. Throws Error on all PEs where it threw on one. It may be collective,
/// too, if nothing in it throws before the last exchange.
template <class Body>
void take_together(Bootstrap& bootstrap, Body&& body) {
  require_all(take_step<NoValue>(bootstrap, [&] {
    body();
    return NoValue{};
  }));
}

}  // namespace railshmem
