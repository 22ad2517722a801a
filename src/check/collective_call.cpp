// SPDX-License-Identifier: BSD-3-Clause
#include "src/check/collective_call.h"

#include <algorithm>
#include <cstdio>

#include "src/rma/peer_address.h"

namespace railshmem::check {

CollectiveCall& CollectiveCall::number(const char* argument, long long value) noexcept {
  char text[24];
  std::snprintf(text, sizeof text, "%lld", value);
  add(argument, text);
  return *this;
}

CollectiveCall& CollectiveCall::address(const char* argument, const void* address) noexcept {
  char text[48];
  uintptr_t offset = 0;
  const SegmentView* view = find_segment(state_, address, 1, &offset);
  if (!address)
    std::snprintf(text, sizeof text, "NULL");
  else if (!view)
    std::snprintf(text, sizeof text, "not symmetric");
  else
    std::snprintf(text, sizeof text, "%s+0x%zx", view == &state_.segment[0] ? "heap" : "globals", offset);
  add(argument, text);
  return *this;
}

void CollectiveCall::add(const char* argument, const char* value) noexcept {
  const int n =
      std::snprintf(text_.data() + used_, text_.size() - used_, "%s%s %s", used_ > 0 ? ", " : "", argument, value);
  used_ = std::min(text_.size() - 1, used_ + static_cast<size_t>(n));
}

}  // namespace railshmem::check
