// SPDX-License-Identifier: BSD-3-Clause
// The PMI-1 wire protocol: one line "cmd=... key=value ..." each way. Spoken by MPICH's hydra
// over an inherited socket (PMI_FD) or a port (PMI_PORT).
#pragma once

#include <map>
#include <string>

#include "bootstrap/common/deadline.h"
#include "src/base/unique.h"

namespace railshmem::pmi {

using Fields = std::map<std::string, std::string>;

/// "cmd=maxes vallen_max=1024" as fields; a value ends at a blank, which msg has replaced by '_'.
Fields parse_line(const std::string& line);

class Wire {
 public:
  explicit Wire(UniqueFd fd, double timeout_s) : fd_(std::move(fd)), timeout_s_(timeout_s) {}

  /// Sends one line (without its end) and returns the answer, whose cmd must be `expected` and whose rc, if any, 0.
  /// Throws Error naming the command that failed or went unanswered for SHMEM_TIMEOUT.
  Fields ask(const std::string& line, const char* expected);
  void send(const std::string& line);
  Fields receive(const char* expected);

 private:
  std::string read_line(const char* expected);

  UniqueFd fd_;
  double timeout_s_;
  std::string buffer_;
};

}  // namespace railshmem::pmi
