// SPDX-License-Identifier: BSD-3-Clause
// GDRCopy over the fake driver, as strict as the real one: whole pages of 64 KiB, nothing unpinned that is mapped. As
// objects for unit tests, and as a libgdrapi.so.2 in the folder fake_gdrapi of the tests' build folder.
#pragma once

#include <cstddef>

#include "src/cuda/gdr_api.h"

extern "C" {
/// Of the fake driver: where the CPU finds memory of a GPU. Null: the address is not a GPU's.
void* railshmem_fake_cpu_view(unsigned long address, size_t nbytes);
}

namespace railshmem::cuda {

/// What does not work, as RAILSHMEM_FAKE_GDR has it. no_module: gdr_open(). no_room: pinning. no_window: mapping.
/// other_memory: mappings show something else.
enum class FakeGdr : uint8_t { works, no_module, no_room, no_window, other_memory };

GdrApi fake_gdr_api();
void set_fake_gdr(FakeGdr how) noexcept;
/// Sessions, pinned pieces and mappings that are not given back, together.
int fake_gdr_leaks() noexcept;

}  // namespace railshmem::cuda
