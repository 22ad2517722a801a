// SPDX-License-Identifier: BSD-3-Clause
// The endpoints of a PE, and who works with which.
#pragma once

#include <cstddef>
#include <cstdint>

namespace railshmem {

/// Every PE has several endpoints on each NIC, each used by one thread at a time: one that host calls post on, and one
/// for each of its proxy threads. Memory is registered, and messages that need an answer are executed, at `proxy`, the
/// first thread's. The others only post, commands of the kernels' rings that they drive: `rings` is the second
/// thread's, and those after it are the next threads'.
enum class Port : uint8_t { proxy, host, rings };

inline constexpr size_t kMaxProxyThreads = 8;

/// Number of ports of each PE of the job, which all have as many threads.
constexpr size_t ports_with(size_t proxy_threads) noexcept {
  return proxy_threads + 1;
}
/// Of proxy thread `thread`, counted from 0.
constexpr Port port_of_thread(size_t thread) noexcept {
  return thread == 0 ? Port::proxy : static_cast<Port>(thread + 1);
}

/// For messages; a literal.
constexpr const char* name_of(Port port) noexcept {
  constexpr const char* kNames[ports_with(kMaxProxyThreads)] = {"proxy",   "host",    "proxy 1", "proxy 2", "proxy 3",
                                                                "proxy 4", "proxy 5", "proxy 6", "proxy 7"};
  return kNames[static_cast<size_t>(port)];
}

struct Endpoint {
  int pe;
  Port port;
};

/// Among those of all PEs, each with `ports`.
constexpr size_t index_of(Endpoint endpoint, size_t ports) noexcept {
  return static_cast<size_t>(endpoint.pe) * ports + static_cast<size_t>(endpoint.port);
}

}  // namespace railshmem
