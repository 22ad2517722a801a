// SPDX-License-Identifier: BSD-3-Clause
//
// What bindings of other languages ask a library for before they use it. Programs in C and C++ need none of this.
#ifndef RAILSHMEM_SHMEM_BINDINGS_H
#define RAILSHMEM_SHMEM_BINDINGS_H

/// shmem4py (Python) has substitutes for functions that libraries lack. It takes a function for missing unless a macro
/// says otherwise, and sets these macros for the libraries that it knows. Here no function is missing. The macros are
/// defined behind Python.h only, which shmem4py's module includes before shmem.h, so that other programs do not meet
/// these names.
#if defined(Py_PYTHON_H)
#define PySHMEM_HAVE_shmem_malloc_with_hints 1
#define PySHMEM_HAVE_shmem_team_t 1
#define PySHMEM_HAVE_SHMEM_CTX_INVALID 1
#define PySHMEM_HAVE_shmem_amo_nbi 1
#define PySHMEM_HAVE_shmem_put_signal 1
#define PySHMEM_HAVE_shmem_signal_fetch 1
#define PySHMEM_HAVE_shmem_signal_wait_until 1
#define PySHMEM_HAVE_shmem_wait_test_many 1
#define PySHMEM_HAVE_shmem_broadcast 1
#define PySHMEM_HAVE_shmem_broadcastmem 1
#define PySHMEM_HAVE_shmem_collect 1
#define PySHMEM_HAVE_shmem_collectmem 1
#define PySHMEM_HAVE_shmem_fcollect 1
#define PySHMEM_HAVE_shmem_fcollectmem 1
#define PySHMEM_HAVE_shmem_alltoall 1
#define PySHMEM_HAVE_shmem_alltoallmem 1
#define PySHMEM_HAVE_shmem_alltoalls 1
#define PySHMEM_HAVE_shmem_alltoallsmem 1
#define PySHMEM_HAVE_shmem_reduce 1
#define PySHMEM_HAVE_shmem_pcontrol 1
#endif

#endif
