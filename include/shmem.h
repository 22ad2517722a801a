// SPDX-License-Identifier: BSD-3-Clause
//
// The OpenSHMEM 1.6 interface: an index of its families.
#ifndef RAILSHMEM_SHMEM_H
#define RAILSHMEM_SHMEM_H

#include "shmem/active_set.h"
#include "shmem/atomic.h"
#include "shmem/bindings.h"
#include "shmem/collective.h"
#include "shmem/context.h"
#include "shmem/deprecated.h"
#include "shmem/lock.h"
#include "shmem/memory.h"
#include "shmem/ordering.h"
#include "shmem/reduce.h"
#include "shmem/rma.h"
#include "shmem/setup.h"
#include "shmem/signal.h"
#include "shmem/team.h"
#include "shmem/types.h"
#include "shmem/wait.h"

// In CUDA units: what kernels can call.
#include "shmem/device/names/names.h"

// Last: its macros carry the names of functions declared above.
#include "shmem/generic/generic.h"

#endif
