// SPDX-License-Identifier: BSD-3-Clause
// The books of symmetric arrays: which blocks of the host heap there are, so that mistakes are found before the library
// sees them. All functions need the GIL, which protects the books.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "python/src/array.h"

namespace railshmem::python {

/// Allocates nbytes of symmetric memory that the CPU reaches, zeroes with `zero`; collective. Returns a memoryview.
/// `name` says in messages what it is. MemoryError where the heap is full.
nanobind::object allocate(size_t nbytes, bool zero, const std::string& name);

/// Frees the block that begins where the array begins; collective. ValueError where none does.
void free_array(nanobind::handle object);

/// ValueError unless all of the array lies in one block that was not freed.
void require_symmetric(const char* function, const Array& array);

/// A memoryview of the bytes of PE pe that this array is at. RuntimeError where they are not mapped.
nanobind::object peer_bytes(nanobind::handle object, int pe);

/// Forgets all blocks, at the end of the library; returns the names of those that were not freed.
std::vector<std::string> forget_blocks();

}  // namespace railshmem::python
