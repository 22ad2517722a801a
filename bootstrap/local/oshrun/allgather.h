// SPDX-License-Identifier: BSD-3-Clause
// One exchange after the other: who has contributed, and what everyone gets.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bootstrap/common/pack.h"

namespace railshmem::oshrun {

class Allgather {
 public:
  explicit Allgather(int npes) : given_(static_cast<size_t>(npes)), left_(static_cast<size_t>(npes), Left::no) {}

  /// Stores a PE's bytes; the result for everyone once it was the last one. Throws Error when the sizes differ.
  std::shared_ptr<const Bytes> contribute(int pe, Bytes bytes);
  /// This PE takes part again (a second bootstrap in one process).
  void join(int pe) { left_[static_cast<size_t>(pe)] = Left::no; }
  void leave(int pe) { left_[static_cast<size_t>(pe)] = Left::yes; }
  /// Why the running exchange can never complete: somebody waits for PEs that have left.
  std::optional<std::string> stuck() const;
  std::string missing() const;

 private:
  enum class Left : uint8_t { no, yes };
  std::vector<std::optional<Bytes>> given_;
  std::vector<Left> left_;
  size_t count_ = 0;
};

}  // namespace railshmem::oshrun
