// SPDX-License-Identifier: BSD-3-Clause
// Starts one PE's process.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/local/oshrun/descriptors.h"
#include "src/base/unique.h"

namespace railshmem::oshrun {

enum class Output : uint8_t { inherited, captured };
/// What a PE is bound to; automatic: a share of the cores where there is one for each PE.
enum class Bind : uint8_t { automatic, core, numa, none };
/// Whether to say where the PEs run (--verbose).
enum class Report : uint8_t { no, places };

/// What the PEs of one host have in common: they are `count` consecutive ones of the job's `npes`.
struct ProcessGroupOrder {
  int first = 0;
  int count = 0;
  int npes = 0;
  Output output = Output::inherited;
  Bind bind = Bind::automatic;
  Report report = Report::no;
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< set over that of this process
  std::string directory = {};                                         ///< to start in; empty: where this process is
  std::vector<std::string> command = {};
};

/// What a child does before the program runs; none: it runs.
enum class Step : int { none, bind, enter, run };

struct Child {
  pid_t pid = -1;
  UniqueFd control;  ///< socket to the PE's bootstrap
  UniqueFd out;      ///< read ends of its stdout and stderr; none when it writes to oshrun's own
  UniqueFd err;
  Step failed = Step::none;
  int error = 0;  ///< errno of that step
};

/// PE 0 has this process's stdin. `cpus`: those that the PE is bound to; null: as this process. Throws Error when the
/// host has no processes or descriptors left.
Child spawn(const ProcessGroupOrder& order, int pe, const Descriptors& descriptors, const cpu_set_t* cpus);

}  // namespace railshmem::oshrun
