// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/pe_list.h"

#include "src/base/error.h"

namespace railshmem {

std::string pe_list(const std::vector<int>& ascending) {
  constexpr size_t kMostItems = 16;  // more do not help whoever reads the message
  std::vector<std::string> items;
  size_t shown = 0;
  for (size_t first = 0; first < ascending.size() && items.size() < kMostItems;) {
    size_t last = first;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (last - first < 2) last = first;
    items.push_back(last == first ? text("%d", ascending[first]) : text("%d to %d", ascending[first], ascending[last]));
    shown += last - first + 1;
    first = last + 1;
  }
  if (shown < ascending.size()) items.push_back(text("%zu more", ascending.size() - shown));
  std::string out = ascending.size() == 1 ? "PE " : "PEs ";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += i + 1 == items.size() ? " and " : ", ";
    out += items[i];
  }
  return out;
}

std::string all_pes(int npes) {
  return npes == 1 ? "PE 0 only" : text("PEs 0 to %d", npes - 1);
}

}  // namespace railshmem
