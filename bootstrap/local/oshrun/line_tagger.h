// SPDX-License-Identifier: BSD-3-Clause
// Cuts output into whole lines, each with a prefix.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace railshmem::oshrun {

class LineTagger {
 public:
  explicit LineTagger(std::string tag) : tag_(std::move(tag)) {}
  /// "[pe] "
  static LineTagger of_pe(int pe) { return LineTagger("[" + std::to_string(pe) + "] "); }

  /// Takes what was read; returns the lines that are complete now, tagged.
  std::string feed(std::string_view output);
  /// The unfinished last line, tagged and with a newline added, or nothing.
  std::string finish();

 private:
  std::string tag_;
  std::string line_;
};

}  // namespace railshmem::oshrun
