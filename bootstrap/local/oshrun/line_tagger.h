// SPDX-License-Identifier: BSD-3-Clause
// Cuts a PE's output into whole lines, each prefixed with its PE.
#pragma once

#include <string>
#include <string_view>

namespace railshmem::oshrun {

class LineTagger {
 public:
  explicit LineTagger(int pe) : tag_("[" + std::to_string(pe) + "] ") {}

  /// Takes what was read; returns the lines that are complete now, tagged.
  std::string feed(std::string_view output);
  /// The unfinished last line, tagged and with a newline added, or nothing.
  std::string finish();

 private:
  std::string tag_;
  std::string line_;
};

}  // namespace railshmem::oshrun
