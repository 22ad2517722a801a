// SPDX-License-Identifier: BSD-3-Clause
//
// A signal without data, with the operation as an argument.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_SIGNAL_OP_H
#define RAILSHMEM_COMPAT_NVSHMEM_SIGNAL_OP_H

#include "nvshmem/constants.h"

/// Updates the word *sig_addr of PE pe by sig_op with signal. Complete at quiet.
RAILSHMEM_COMPAT_SIDES void nvshmemx_signal_op(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
  if (sig_op == NVSHMEM_SIGNAL_ADD) {
    shmem_signal_add(sig_addr, signal, pe);
  } else {
    shmem_signal_set(sig_addr, signal, pe);
  }
}

#endif
