// SPDX-License-Identifier: BSD-3-Clause
// The books of symmetric arrays and tensors: which blocks of the heaps there are, so that mistakes are found before the
// library sees them. All functions need the GIL, which protects the books. `function` is the Python function for
// messages: "railshmem.numpy.empty".
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "python/src/array.h"

namespace railshmem::python {

/// Allocates nbytes of symmetric memory that the CPU reaches, zeroes with `zero`; collective. Returns a memoryview of
/// at least a byte. `name` says in messages what it is. MemoryError where the heap is full.
nanobind::object allocate(const char* function, size_t nbytes, bool zero, const std::string& name);

/// As allocate(); returns the address.
uintptr_t allocate_on_host(const char* function, size_t nbytes, bool zero, const std::string& name);

/// Allocates nbytes of symmetric memory of this PE's GPU; collective, behind take_gpu(). Returns the address, a
/// multiple of align. MemoryError where the heap is full.
uintptr_t allocate_on_device(const char* function, size_t nbytes, const std::string& name, size_t align);

/// The block that begins here stays until the end of the library on purpose: free_array() refuses it, and
/// forget_blocks() does not name it.
void keep_block(uintptr_t begin);

/// Whether all of the array is in one block that was not freed.
bool is_symmetric(const Array& array);

/// Frees the block that begins where the array begins; collective. ValueError where none does.
void free_array(const char* function, nanobind::handle object);

/// ValueError unless all of the array is in one block that was not freed.
void require_symmetric(const char* function, const Array& array);

/// A memoryview, of at least a byte, of the bytes of PE pe that this array is at. RuntimeError where they are not
/// mapped.
nanobind::object peer_bytes(const char* function, nanobind::handle object, int pe);

/// require_symmetric(), and the addresses at which the block begins and ends.
std::pair<uintptr_t, uintptr_t> block_of(const char* function, const Array& array);

/// nbytes of memory as an object that torch.from_dlpack takes (a capsule of DLPack): on the GPU with this number,
/// whoever has the memory, or on the CPU (kOnHost). Whoever takes it does not own the memory.
nanobind::object bytes_on(uintptr_t address, size_t nbytes, int device);

/// The address here of the array of PE pe, and its bytes. RuntimeError where it is not mapped.
std::pair<uintptr_t, size_t> peer_address(const char* function, nanobind::handle object, int pe);

/// How far the array is behind the start of its block, in bytes, and the number of the block: how many were made
/// before. Equal on all PEs for one array. ValueError where it is not symmetric.
std::pair<size_t, size_t> place_of(const char* function, nanobind::handle object);

/// Forgets all blocks, at the end of the library; returns the names of those that were not freed.
std::vector<std::string> forget_blocks();

}  // namespace railshmem::python
