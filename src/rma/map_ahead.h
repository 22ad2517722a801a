// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace railshmem {

/// Shorter stores are not worth the look.
inline constexpr size_t kMapAheadFrom = size_t{1} << 20;

/// Before a long store to shared memory that this process may not have touched yet: maps its pages in groups. A store
/// to a page that is not mapped here costs a fault each, 1.5 us in a virtual machine; a load maps the 16 pages around
/// it that exist, writable (decision 0055). Changes no memory.
[[gnu::cold]] void map_ahead(const std::byte* to, size_t nbytes) noexcept;

}  // namespace railshmem
