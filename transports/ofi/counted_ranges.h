// SPDX-License-Identifier: BSD-3-Clause
// How many hold an interest in each page.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "transports/ofi/page_range.h"

namespace railshmem::ofi {

/// Ranges that overlap as they like; remove() tells which pages nobody is interested in any more.
class CountedRanges {
 public:
  void add(const PageRange& pages) {
    split(pages.begin);
    split(pages.end);
    for (auto step = steps_.find(pages.begin); step->first != pages.end; ++step) ++step->second;
    join(pages);
  }

  /// A range that was added; calls uncovered(PageRange) for each run of pages whose count falls to zero.
  template <class Uncovered>
  void remove(const PageRange& pages, Uncovered&& uncovered) {
    split(pages.begin);
    split(pages.end);
    PageRange run{pages.begin, pages.begin};
    for (auto step = steps_.find(pages.begin); step->first != pages.end; ++step) {
      if (--step->second > 0) {
        if (run.begin != run.end) uncovered(run);
        run.begin = std::next(step)->first;
      }
      run.end = std::next(step)->first;
    }
    if (run.begin != run.end) uncovered(run);
    join(pages);
  }

  bool empty() const noexcept { return steps_.empty(); }

 private:
  void split(uintptr_t at) {
    const auto behind = steps_.upper_bound(at);
    steps_.try_emplace(at, behind == steps_.begin() ? 0 : std::prev(behind)->second);
  }
  /// Removes the steps from `pages.begin` to `pages.end` that change nothing.
  void join(const PageRange& pages) {
    auto step = steps_.find(pages.begin);
    uint32_t before = step == steps_.begin() ? 0 : std::prev(step)->second;
    while (step != steps_.end() && step->first <= pages.end) {
      if (step->second == before) {
        step = steps_.erase(step);
      } else {
        before = (step++)->second;
      }
    }
  }

  std::map<uintptr_t, uint32_t> steps_;  ///< the count from this address up to the next
};

}  // namespace railshmem::ofi
