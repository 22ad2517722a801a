// SPDX-License-Identifier: BSD-3-Clause
// Processes that PEs started and did not wait for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace railshmem::oshrun {

class Orphans {
 public:
  /// From here on what PEs leave running becomes a child of this process.
  Orphans();
  /// When all PEs have ended: kills these processes and theirs. Names them, for a message; nothing if none exists.
  std::string end_all();

 private:
  std::vector<pid_t> before_;  ///< children that whoever became this process had already
};

}  // namespace railshmem::oshrun
