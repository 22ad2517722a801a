// SPDX-License-Identifier: BSD-3-Clause
// On which CPUs a thread of the library runs: SHMEM_PROXY_AFFINITY.
#pragma once

#include <sched.h>

#include <cstddef>
#include <string>

#include "src/base/env_types.h"

namespace railshmem {

/// The list of the PE that is number `host_slot` on its host.
cpu_set_t of_list(const CpuWish& wish, size_t host_slot) noexcept;

/// Those of a PE's CPUs that are also among `near`. A set and not one CPU, because the library does not know which CPUs
/// the program's own threads use; the system picks a free one of the set. Empty where the binding would change nothing,
/// and where no CPU of the PE is near: a PE that is bound elsewhere stays where it is.
cpu_set_t nearest(const cpu_set_t& own, const cpu_set_t& near) noexcept;

enum class Binding : uint8_t { demanded, hoped_for };
/// Binds the calling thread to `cpus`. Where the system refuses, throws Error if the binding was demanded, and returns
/// false otherwise.
bool bind_thread(const cpu_set_t& cpus, Binding binding);

}  // namespace railshmem
