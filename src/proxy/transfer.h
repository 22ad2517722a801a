// SPDX-License-Identifier: BSD-3-Clause
// What a caller hands to the initiator: the part of an operation that outlives one try.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/plugin/rail.h"
#include "src/proxy/operation.h"

namespace railshmem {

/// A put or get on its way into the rail. Survives `again`: the next try goes on where this one stopped.
struct Transfer {
  OpKind kind;
  Remote remote;
  std::byte* local;  ///< a put only reads it
  size_t nbytes;
  size_t posted = 0;
  OpCell* cell = nullptr;
};

/// May the source change as soon as the post was accepted?
enum class Source : uint8_t { stable, copied };

}  // namespace railshmem
