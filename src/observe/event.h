// SPDX-License-Identifier: BSD-3-Clause
// One bar of the timeline.
#pragma once

#include <cstdint>
#include <type_traits>

namespace railshmem::observe {

struct Event {
  uint64_t began;  ///< ticks
  uint64_t ended;
  const char* name;      ///< a literal of the library
  const char* category;  ///< a literal of the library
  uint64_t nbytes;
  int32_t pe;  ///< the other PE; -1: none
  uint32_t reserved = 0;
};
static_assert(sizeof(Event) == 48 && std::is_trivially_copyable_v<Event>);

}  // namespace railshmem::observe
