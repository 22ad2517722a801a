// SPDX-License-Identifier: BSD-3-Clause
//
// Deprecated location of <shmem.h>.
#ifndef RAILSHMEM_MPP_SHMEM_H
#define RAILSHMEM_MPP_SHMEM_H

#include "../shmem.h"  // by path: "shmem.h" would be this file

#endif
