// SPDX-License-Identifier: BSD-3-Clause
//
// NVSHMEM keeps its extensions in a header of this name; here one index has both.
#ifndef RAILSHMEM_COMPAT_NVSHMEMX_H
#define RAILSHMEM_COMPAT_NVSHMEMX_H

#include "nvshmem.h"

#endif
