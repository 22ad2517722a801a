// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/link_state.h"

#include <fcntl.h>
#include <net/if.h>
#include <unistd.h>

#include <sstream>
#include <string_view>

#include "transports/ofi/nic_facts.h"

#include "src/base/fds.h"

namespace railshmem::ofi {

LinkState::LinkState(const std::string& interface, const std::string& root) {
  if (!interface.empty())
    state_ = UniqueFd(open((root + "/" + interface + "/operstate").c_str(), O_RDONLY | O_CLOEXEC));
}

LinkState LinkState::of(const NicFacts& facts, const std::string& root) {
  unsigned index = 0;
  std::istringstream(read_file(root + "/" + facts.interface + "/ifindex")) >> index;
  if (facts.interface.empty() || index == 0 || index != if_nametoindex(facts.interface.c_str())) return {};
  LinkState state(facts.interface, root);
  // Where libfabric's list says that the link is up and sysfs that it is down, the list is right: it is as new.
  return facts.up && !state.is_up() ? LinkState() : std::move(state);
}

bool LinkState::is_up() const noexcept {
  char word[32];
  const ssize_t n = state_ ? pread(state_.get(), word, sizeof word, 0) : 0;
  if (n <= 0) return true;  // also when the interface is gone: failing operations will tell
  const std::string_view state(word, static_cast<size_t>(n));
  // The other states are up, dormant, testing and unknown (loopback and some virtual interfaces).
  return !state.starts_with("down") && !state.starts_with("lowerlayerdown") && !state.starts_with("notpresent");
}

}  // namespace railshmem::ofi
