// SPDX-License-Identifier: BSD-3-Clause
// Numbers by which processes see what they have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace railshmem {

inline constexpr uint64_t kFnvBasis = 0xcbf29ce484222325u;

/// FNV-1a, because std::hash may differ between the PEs' standard libraries. `before`: the hash of what goes before.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t before = kFnvBasis) noexcept {
  for (const char c : bytes) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return before;
}

/// Equal for processes under one kernel, which all containers of a host share. Throws Error where /proc is not mounted.
uint64_t kernel_id();

/// Equal for processes that share a kernel and a network namespace: what a user calls a host. Two network namespaces
/// of one kernel count as two hosts, as containers do. Throws Error.
uint64_t host_id();

/// Equal for processes of one PID namespace, in which a process has one number for all. Throws Error.
uint64_t pid_namespace();

}  // namespace railshmem
