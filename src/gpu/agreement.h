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
template <class Card>
struct StepCard {
  Card card{};
  char why[424] = {};  ///< empty: it can

  bool ok() const noexcept { return why[0] == '\0'; }
};

/// The card of a step that has nothing to tell but that it was taken.
struct NoCard {};

/// Collective. Runs `body`, which returns this PE's card or throws, and exchanges the results.
template <class Card, class Body>
std::vector<StepCard<Card>> take_step(Bootstrap& bootstrap, Body&& body) {
  StepCard<Card> mine;
  try {
    mine.card = body();
  } catch (const std::exception& error) {
    const std::string why = error.what();
    const size_t n = std::min(why.size(), sizeof mine.why - 1);
    std::memcpy(mine.why, why.empty() ? "?" : why.data(), why.empty() ? 1 : n);
  }
  return exchange(bootstrap, mine);
}

/// The first PE that could not take the step, or -1.
template <class Card>
int first_failure(const std::vector<StepCard<Card>>& steps) noexcept {
  const auto failed = std::find_if(steps.begin(), steps.end(), [](const StepCard<Card>& step) { return !step.ok(); });
  return failed == steps.end() ? -1 : static_cast<int>(failed - steps.begin());
}

/// Throws Error that names the first PE that could not take the step, and its reason.
template <class Card>
void require_all(const std::vector<StepCard<Card>>& steps) {
  if (const int pe = first_failure(steps); pe >= 0)
    throw Error(text("PE %d: %s", pe, steps[static_cast<size_t>(pe)].why));
}

/// Collective. Runs `body`, which has no card. Throws Error on all PEs where it threw on one. It may be collective,
/// too, if nothing in it throws before the last exchange.
template <class Body>
void take_together(Bootstrap& bootstrap, Body&& body) {
  require_all(take_step<NoCard>(bootstrap, [&] {
    body();
    return NoCard{};
  }));
}

}  // namespace railshmem
