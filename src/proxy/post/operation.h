// SPDX-License-Identifier: BSD-3-Clause
// What a message about a failed operation says.
#pragma once

#include <cstddef>
#include <string>

#include "src/plugin/op.h"

namespace railshmem {

struct Operation {
  OpKind kind;
  int pe;
  size_t nbytes;
};

/// "put of 8 bytes to PE 3"
std::string describe(const Operation& operation);

/// The operation got nowhere for SHMEM_TIMEOUT. `detail` says what it waits for; may be empty.
[[noreturn, gnu::cold]] void die_without_progress(const Operation& operation, const std::string& rail, double timeout_s,
                                                  const std::string& detail) noexcept;
/// The rail reported an error (an errno value of either sign) for this operation.
[[noreturn, gnu::cold]] void die_failed(const Operation& operation, const std::string& rail, int error) noexcept;
/// The rail reported an error without saying for which operation; `detail` names what was in flight.
[[noreturn, gnu::cold]] void die_rail_failed(const std::string& rail, int error, const std::string& detail) noexcept;
/// A thread of this PE was still in a call, or came to one, after another had closed the network in shmem_finalize.
/// `operation` is what it waited for; null: it waits for the endpoint.
[[noreturn, gnu::cold]] void die_too_late(const Operation* operation = nullptr) noexcept;

}  // namespace railshmem
