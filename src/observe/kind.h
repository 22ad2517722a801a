// SPDX-License-Identifier: BSD-3-Clause
// What is counted and drawn: kinds of calls, where they went, and what the network engine does beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace railshmem::observe {

/// Calls of the program, in the order of the table that SHMEM_STATS=1 prints.
enum class Kind : uint8_t {
  put,
  get,
  amo,
  signal,
  put_signal,
  wait,
  quiet,
  fence,
  barrier,
  collective,
  lock,
  allocation
};
inline constexpr size_t kKinds = 12;
inline constexpr const char* kKindNames[kKinds] = {"put",        "get",        "amo",   "signal",
                                                   "put_signal", "wait",       "quiet", "fence",
                                                   "barrier",    "collective", "lock",  "allocation"};

/// Which way a call went: to a PE reached by load and store, through the network, or to no PE in particular.
enum class Way : uint8_t { node, network, none };
inline constexpr size_t kWays = 3;
inline constexpr const char* kWayNames[kWays] = {"node", "network", "-"};

/// Sums of the network engine.
enum class Engine : uint8_t {
  posted,        ///< operations that host calls posted
  again,         ///< attempts that the rail had no room for
  served,        ///< requests of peers executed here
  served_bytes,  ///< their data
  sleeps,        ///< rests of the proxy thread
  slept_ticks,
  copies,  ///< of staged memory, for host calls, channels and peers
  copied_bytes,
  copying_ticks,  ///< from their starts until they were seen to be over
};
inline constexpr size_t kEngineSums = 9;

/// One bar of the timeline.
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
