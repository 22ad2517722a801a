// SPDX-License-Identifier: BSD-3-Clause
// Whether an interface has a link, as the system tells it.
#pragma once

#include <string>

#include "src/base/unique.h"

namespace railshmem::ofi {

struct NicFacts;

class LinkState {
 public:
  /// Where Linux describes interfaces: a folder for each, with files "operstate" and "ifindex".
  static constexpr const char* kSystem = "/sys/class/net";

  LinkState() = default;
  /// Of an interface; without a name, or with one that `root` does not list, nothing is told and it counts as up.
  explicit LinkState(const std::string& interface, const std::string& root = kSystem);
  /// Of a rail's interface, if what `root` says is of this process's network: it may be another namespace's.
  static LinkState of(const NicFacts& facts, const std::string& root = kSystem);

  bool is_told() const noexcept { return static_cast<bool>(state_); }
  /// One system call, from any thread.
  bool is_up() const noexcept;

 private:
  UniqueFd state_;
};

}  // namespace railshmem::ofi
