// SPDX-License-Identifier: BSD-3-Clause
//
// The OpenSHMEM 1.6 interface: an index of its families.
#ifndef RAILSHMEM_SHMEM_H
#define RAILSHMEM_SHMEM_H

#include "shmem/bindings.h"
#include "shmem/lists.h"
#include "shmem/types.h"

// In CUDA units: what kernels can call.
#include "shmem/device/names/names.h"

// Last: its macros carry the names of functions declared above.
#include "shmem/generic/generic.h"

#endif
