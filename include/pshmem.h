// SPDX-License-Identifier: BSD-3-Clause
//
// The profiling interface: every shmem_ function again under its pshmem_ name, which no tool replaces
// (OpenSHMEM 1.6, 10).
#ifndef RAILSHMEM_PSHMEM_H
#define RAILSHMEM_PSHMEM_H

#include "shmem.h"

RAILSHMEM_BEGIN_C
RAILSHMEM_ALL_FUNCTIONS(RAILSHMEM_DECLARE_PROFILED)
RAILSHMEM_OLD_NAME_FUNCTIONS(RAILSHMEM_DECLARE_PLAIN_PROFILED)
RAILSHMEM_END_C

#endif
