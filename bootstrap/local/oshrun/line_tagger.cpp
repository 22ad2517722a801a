// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/line_tagger.h"

namespace railshmem::oshrun {

std::string LineTagger::feed(std::string_view output) {
  constexpr size_t kLongestLine = 1 << 20;  // then it is cut: a PE must not fill oshrun's memory
  std::string out;
  while (!output.empty()) {
    const size_t end = output.find('\n');
    const std::string_view piece = output.substr(0, end == std::string_view::npos ? output.size() : end + 1);
    line_ += piece;
    output.remove_prefix(piece.size());
    if (end != std::string_view::npos) {
      out += tag_ + line_;
      line_.clear();
    } else if (line_.size() >= kLongestLine) {
      out += finish();
    }
  }
  return out;
}

std::string LineTagger::finish() {
  if (line_.empty()) return {};
  std::string out = tag_ + line_ + "\n";
  line_.clear();
  return out;
}

}  // namespace railshmem::oshrun
