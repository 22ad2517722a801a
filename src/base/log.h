// SPDX-License-Identifier: BSD-3-Clause
// Messages to stderr: one line each, prefixed with the PE and the level.
#pragma once

#include <cstdint>
#include <string_view>

namespace railshmem {

enum class LogLevel : uint8_t { error, warn, info, debug, trace };

/// Messages up to this level are printed; set once by the first World from SHMEM_DEBUG.
void set_log_level(LogLevel level) noexcept;
bool log_enabled(LogLevel level) noexcept;

/// The PE named in the prefix of this thread's messages; -1 (before it is known) prints the process id.
void set_log_pe(int pe) noexcept;
/// Also of threads that have named no PE themselves: for a process that is one PE, in another job perhaps than before.
void set_process_log_pe(int pe) noexcept;
int log_pe() noexcept;

[[gnu::format(printf, 1, 2)]] void log_error(const char* format, ...) noexcept;
[[gnu::format(printf, 1, 2)]] void log_warn(const char* format, ...) noexcept;
[[gnu::format(printf, 1, 2)]] void log_info(const char* format, ...) noexcept;
[[gnu::format(printf, 1, 2)]] void log_debug(const char* format, ...) noexcept;

/// What the user asked to be printed (SHMEM_STATS): at every level, without one in the prefix.
[[gnu::format(printf, 1, 2)]] void log_report(const char* format, ...) noexcept;

/// Warnings printed so far by this process: test suites assert that it stays zero.
uint64_t warnings_logged() noexcept;

/// Prints an error and ends the whole job: for the data path, where the standard has no status to return.
[[noreturn, gnu::cold, gnu::format(printf, 1, 2)]] void die(const char* format, ...) noexcept;

}  // namespace railshmem
