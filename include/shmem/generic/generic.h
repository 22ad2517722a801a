// SPDX-License-Identifier: BSD-3-Clause
//
// Names without a type in them: macros in C11, overloads in C++, nothing in C99.
#ifndef RAILSHMEM_SHMEM_GENERIC_GENERIC_H
#define RAILSHMEM_SHMEM_GENERIC_GENERIC_H

#if defined(__cplusplus)
#include "shmem/generic/cpp.h"
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include "shmem/generic/atomic.h"
#include "shmem/generic/collective.h"
#include "shmem/generic/deprecated.h"
#include "shmem/generic/reduce.h"
#include "shmem/generic/rma.h"
#include "shmem/generic/signal.h"
#include "shmem/generic/team.h"
#include "shmem/generic/wait.h"
#endif

#endif
