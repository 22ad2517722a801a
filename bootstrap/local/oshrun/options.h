// SPDX-License-Identifier: BSD-3-Clause
// oshrun's command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bootstrap/local/oshrun/hosts.h"
#include "bootstrap/local/oshrun/spawn.h"

namespace railshmem::oshrun {

struct Options {
  int npes = 0;
  bool tag_output = false;
  bool verbose = false;
  bool survive = false;  ///< a PE that dies does not end the others
  bool clean = false;    ///< only remove files that dead processes have left on this host
  double timeout_s = 0;  ///< 0 = no limit
  Bind bind = Bind::automatic;
  std::string directory;      ///< to start in; empty = where oshrun was started
  std::vector<Share> shares;  ///< hosts and their PEs; none = all PEs on this host
  std::vector<std::string> ssh;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> command;
};

struct Parsed {
  Options options;
  int exit_status = 0;  ///< of oshrun itself when `message` is set
  std::string message;  ///< help or what is wrong; empty = run the job
};

/// Parses up to the program name; everything behind it belongs to the program.
Parsed parse_options(int argc, const char* const* argv);

}  // namespace railshmem::oshrun
