// SPDX-License-Identifier: BSD-3-Clause
// What a program may pass. All functions throw Error that names the value and what to do.
#pragma once

#include <shmemx_moe.h>

#include <cstdint>

#include "moe/kernels/call.h"
#include "src/base/error.h"

namespace railshmem::moe {

/// The caller's configuration, which may be of an older header.
shmemx_moe_config_t checked(const shmemx_moe_config_t* config, int n);
Shape shape_of(const shmemx_moe_config_t& config, int n);
/// Bytes that a handle needs for a team on so many nodes.
uint64_t workspace_of(const Shape& shape, int nodes);

void check_range(const char* name, int value, int least, int most);
/// That it begins at a multiple of `alignment`. NULL only where it is not needed.
void check_pointer(const char* name, const void* pointer, bool needed, uintptr_t alignment);
/// That the struct is of this header.
template <class Struct>
void check_size(const Struct* asked, const char* name, const char* initializer) {
  if (asked == nullptr) throw Error(text("%s is NULL; pass its address", name));
  if (asked->size != sizeof(Struct))
    throw Error(
        text("%s's size is %zu, this library's %zu; begin with %s, and compile with the shmemx_moe.h of this "
             "library",
             name, asked->size, sizeof(Struct), initializer));
}

/// That there is a handle.
void check(shmemx_moe_t handle);
void check(const shmemx_moe_dispatch_t* dispatch);
void check(const shmemx_moe_combine_t* combine);
/// What the call reads and writes. `tokens`: of the dispatch before.
void check_buffers(const shmemx_moe_dispatch_t& dispatch, const shmemx_moe_config_t& config);
void check_buffers(const shmemx_moe_combine_t& combine, const shmemx_moe_config_t& config, int tokens);

}  // namespace railshmem::moe
