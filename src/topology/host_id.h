// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace railshmem {

/// Equal for processes that share a kernel and a network namespace: what a user calls a host. Two network namespaces
/// of one kernel count as two hosts, as containers do.
uint64_t host_id();

}  // namespace railshmem
