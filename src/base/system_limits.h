// SPDX-License-Identifier: BSD-3-Clause
// Why the system refused a call: the reason, the limits of this process that can be behind it, and how to raise them.
#pragma once

#include <exception>
#include <string>

namespace railshmem {

/// "; the limit on descriptors is 64: raise it (ulimit -n)". Empty where no limit of this process can be behind
/// `error`.
std::string limits_behind(int error);

/// "Too many open files; the limit on descriptors is 64: raise it (ulimit -n)".
std::string refusal_text(int error);

/// The limits on memory, in the form of limits_behind().
std::string memory_limits();

/// The same as refusal_text() for fork and pthread_create, to which other limits apply.
std::string task_refusal_text(int error);

/// what() of an exception; for a lack of memory also the limits on it.
std::string explain(const std::exception& e);

}  // namespace railshmem
