// SPDX-License-Identifier: BSD-3-Clause
// A step that the members of a collective operation take all or none.
#pragma once

#include <exception>
#include <utility>

#include "src/base/error.h"

namespace railshmem {

/// Runs `step`, which only this member sees fail, and tells the others: `vote` is given whether the step succeeded
/// here, and returns whether it did on all members. Throws on all of them where it failed on one: there what the step
/// threw, elsewhere Error. So no member waits later for one that has left. A step may be collective, too, if nothing in
/// it throws before the last exchange.
template <class Step, class Vote>
void together(Step&& step, Vote&& vote) {
  std::exception_ptr failure;
  try {
    std::forward<Step>(step)();
  } catch (...) {
    failure = std::current_exception();
  }
  if (vote(!failure)) return;
  if (failure) std::rethrow_exception(failure);
  throw Error("another member of the team could not, see its message");
}

}  // namespace railshmem
