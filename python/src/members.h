// SPDX-License-Identifier: BSD-3-Clause
// The members of a team, and a word from each to each, for collectives that Python composes.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Reserves the words for exchanges; collective, at the start of the library. False where the heap is full.
bool reserve_words();

/// Adds members, team_key, sync and exchange_words.
void bind_members(nanobind::module_& module);

}  // namespace railshmem::python
