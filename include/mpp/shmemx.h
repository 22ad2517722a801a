// SPDX-License-Identifier: BSD-3-Clause
//
// Deprecated location of <shmemx.h>.
#ifndef RAILSHMEM_MPP_SHMEMX_H
#define RAILSHMEM_MPP_SHMEMX_H

#include "../shmemx.h"  // by path: "shmemx.h" would be this file

#endif
