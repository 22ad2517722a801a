// SPDX-License-Identifier: BSD-3-Clause
//
// Compile-only: what shmem4py asks for is there behind Python.h, and only there.
#include <shmem.h>
#if defined(PySHMEM_HAVE_shmem_malloc_with_hints) || defined(PySHMEM_HAVE_shmem_team_t) ||         \
    defined(PySHMEM_HAVE_SHMEM_CTX_INVALID) || defined(PySHMEM_HAVE_shmem_amo_nbi) ||              \
    defined(PySHMEM_HAVE_shmem_put_signal) || defined(PySHMEM_HAVE_shmem_signal_fetch) ||          \
    defined(PySHMEM_HAVE_shmem_signal_wait_until) || defined(PySHMEM_HAVE_shmem_wait_test_many) || \
    defined(PySHMEM_HAVE_shmem_broadcast) || defined(PySHMEM_HAVE_shmem_broadcastmem) ||           \
    defined(PySHMEM_HAVE_shmem_collect) || defined(PySHMEM_HAVE_shmem_collectmem) ||               \
    defined(PySHMEM_HAVE_shmem_fcollect) || defined(PySHMEM_HAVE_shmem_fcollectmem) ||             \
    defined(PySHMEM_HAVE_shmem_alltoall) || defined(PySHMEM_HAVE_shmem_alltoallmem) ||             \
    defined(PySHMEM_HAVE_shmem_alltoalls) || defined(PySHMEM_HAVE_shmem_alltoallsmem) ||           \
    defined(PySHMEM_HAVE_shmem_reduce) || defined(PySHMEM_HAVE_shmem_pcontrol)
#error "a name of shmem4py in a program without Python"
#endif

// Defines what Python.h defines, then includes the header as if for the first time.
#define Py_PYTHON_H
#undef RAILSHMEM_SHMEM_BINDINGS_H
#undef RAILSHMEM_SHMEM_H
#include <shmem.h>
#if !defined(PySHMEM_HAVE_shmem_malloc_with_hints) || !defined(PySHMEM_HAVE_shmem_team_t) ||         \
    !defined(PySHMEM_HAVE_SHMEM_CTX_INVALID) || !defined(PySHMEM_HAVE_shmem_amo_nbi) ||              \
    !defined(PySHMEM_HAVE_shmem_put_signal) || !defined(PySHMEM_HAVE_shmem_signal_fetch) ||          \
    !defined(PySHMEM_HAVE_shmem_signal_wait_until) || !defined(PySHMEM_HAVE_shmem_wait_test_many) || \
    !defined(PySHMEM_HAVE_shmem_broadcast) || !defined(PySHMEM_HAVE_shmem_broadcastmem) ||           \
    !defined(PySHMEM_HAVE_shmem_collect) || !defined(PySHMEM_HAVE_shmem_collectmem) ||               \
    !defined(PySHMEM_HAVE_shmem_fcollect) || !defined(PySHMEM_HAVE_shmem_fcollectmem) ||             \
    !defined(PySHMEM_HAVE_shmem_alltoall) || !defined(PySHMEM_HAVE_shmem_alltoallmem) ||             \
    !defined(PySHMEM_HAVE_shmem_alltoalls) || !defined(PySHMEM_HAVE_shmem_alltoallsmem) ||           \
    !defined(PySHMEM_HAVE_shmem_reduce) || !defined(PySHMEM_HAVE_shmem_pcontrol)
#error "shmem4py puts a substitute in the place of something that is there"
#endif

extern int not_empty;
