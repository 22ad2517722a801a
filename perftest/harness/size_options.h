// SPDX-License-Identifier: BSD-3-Clause
// The options that choose message sizes; every program of perftest has them.
#pragma once

#include <string>
#include <vector>

#include "perftest/harness/options.h"

namespace CLI {
class App;
}

namespace railshmem::perf {

class SizeOptions {
 public:
  void declare(CLI::App& app);
  /// Into min_bytes, max_bytes and sizes. Throws CLI::ValidationError.
  void interpret(Options& options) const;

 private:
  std::string min_bytes_;
  std::string max_bytes_;
  std::vector<std::string> sizes_;
};

}  // namespace railshmem::perf
