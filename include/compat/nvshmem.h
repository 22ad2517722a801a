// SPDX-License-Identifier: BSD-3-Clause
//
// Lets programs written for NVSHMEM compile unchanged against this library: its public names, mapped onto shmem.h and
// shmemx.h. Compile with -I PREFIX/include/compat -I PREFIX/include; no relocatable device code is needed. Names that
// are missing, and names that behave differently: docs/porting.md. An index.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_H
#define RAILSHMEM_COMPAT_NVSHMEM_H

#include "nvshmem/atomic.h"
#include "nvshmem/collective.h"
#include "nvshmem/constants.h"
#include "nvshmem/launch.h"
#include "nvshmem/maxloc.h"
#include "nvshmem/memory.h"
#include "nvshmem/module.h"
#include "nvshmem/reduce.h"
#include "nvshmem/rma.h"
#include "nvshmem/setup.h"
#include "nvshmem/signal.h"
#include "nvshmem/signal_op.h"
#include "nvshmem/stream.h"
#include "nvshmem/sync.h"
#include "nvshmem/team.h"
#include "nvshmem/wait.h"

#endif
