// SPDX-License-Identifier: BSD-3-Clause
// Every name that kernels can call; empty but in CUDA units. An index.
#ifndef SHMEM_DEVICE_NAMES_NAMES_H
#define SHMEM_DEVICE_NAMES_NAMES_H

#include "shmem/device/names/atomic.h"
#include "shmem/device/names/collective.h"
#include "shmem/device/names/ordering.h"
#include "shmem/device/names/query.h"
#include "shmem/device/names/reduce.h"
#include "shmem/device/names/reducescatter.h"
#include "shmem/device/names/rma.h"
#include "shmem/device/names/scoped.h"
#include "shmem/device/names/signal.h"
#include "shmem/device/names/wait.h"

#endif
