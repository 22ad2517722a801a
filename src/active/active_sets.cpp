// SPDX-License-Identifier: BSD-3-Clause
#include "src/active/active_sets.h"

#include "src/base/log.h"
#include "src/plugin/network.h"

namespace railshmem {

ActiveSets::ActiveSets(PeState& state, std::function<Team&()> make_team)
    : state_(state), make_team_(std::move(make_team)) {
  if (state_.network) context_.net = state_.network->make_context();
}

ActiveSets::~ActiveSets() {
  if (context_.net) state_.network->drop_context(context_.net);
}

Team* ActiveSets::first_use(const char* function) noexcept {
  try {
    return team_ = &make_team_();
  } catch (const std::exception& e) {
    die("%s: %s", function, e.what());
  }
}

}  // namespace railshmem
