// SPDX-License-Identifier: BSD-3-Clause
// The settings of a job: one field per row of env_table.inc.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/base/env_types.h"

namespace railshmem {

struct Env {
#define ENV(field, type, fallback, name, help) env_types::type::Value field{};
#include "src/base/env_table.inc"
#undef ENV

  /// Returns the value of a variable; null or empty: not set. Tests pass their own, so they need no setenv.
  using Lookup = std::function<const char*(const char* name)>;

  /// Reads every variable; throws Error naming the variable, its value and the accepted form.
  /// SMA_* twins of the standard's four variables are honoured; the SHMEM_ form wins.
  static Env parse(const Lookup& lookup);
  static Env parse();
};

/// One row for SHMEM_INFO=1, shmem_info and the reference.
struct EnvRow {
  const char* name;
  const char* fallback;
  const char* help;
  bool secret;  ///< its value is never shown
};
std::span<const EnvRow> env_rows();

/// The table with the values in force, as SHMEM_INFO=1 prints it.
std::string describe_env(const Env::Lookup& lookup);
/// The table with the values of this process's environment.
std::string describe_env();

/// Warnings for names in `environment` ("NAME=value" strings) that begin with SHMEM_ but are no variable of ours. Each
/// proposes the nearest known name.
std::vector<std::string> unknown_names(const std::vector<std::string>& environment);
/// The process's own environment as unknown_names() takes it.
std::vector<std::string> process_environment();

/// The value of a variable of a launcher (RANK, PMI_FD, ...) or of the system (HOME, ...); null when the variable is
/// not set or empty.
const char* launcher_variable(const char* name) noexcept;

}  // namespace railshmem
