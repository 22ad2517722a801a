// SPDX-License-Identifier: BSD-3-Clause
// From which NUMA node this thread's new pages come, for a while.
#pragma once

namespace railshmem::cuda {

/// While it lives, pages that this thread allocates come from `node` where it has room; the program's own policy is
/// back afterwards. Best effort: containers often forbid it. Below 0 it does nothing.
class NumaPreference {
 public:
  explicit NumaPreference(int node) noexcept;
  ~NumaPreference();
  NumaPreference(const NumaPreference&) = delete;

 private:
  static constexpr unsigned kNodes = 1024;
  static constexpr unsigned kWords = kNodes / (8 * sizeof(unsigned long));

  bool active_ = false;
  int policy_ = 0;
  unsigned long mask_[kWords] = {};  ///< of the program's policy
};

}  // namespace railshmem::cuda
