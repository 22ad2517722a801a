// SPDX-License-Identifier: BSD-3-Clause
// Variables that launchers set, read strictly: absent or malformed is an error naming the variable.
#pragma once

#include <string>

namespace railshmem {

bool has_variable(const char* name) noexcept;
/// The value of a variable. Throws Error "SHMEM_BOOTSTRAP=tcp needs MASTER_ADDR, which is not set; <remedy>".
std::string need_variable(const char* name, const char* needed_by, const char* remedy);
/// The value of a variable as a decimal number in [low, high]; nothing may follow the number. Throws Error.
int need_number(const char* name, int low, int high, const char* needed_by, const char* remedy);

}  // namespace railshmem
