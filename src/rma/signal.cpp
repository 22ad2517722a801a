// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/signal.h"

#include "include/shmem/types.h"
#include "src/base/log.h"

namespace railshmem {

void die_bad_signal_op(const char* function, int op, int pe) noexcept {
  die("%s: signal operation %d (PE %d) is neither SHMEM_SIGNAL_SET (%d) nor SHMEM_SIGNAL_ADD (%d)", function, op, pe,
      SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD);
}

SignalOp checked_signal_op(const char* function, int op, int pe) noexcept {
  if (op == SHMEM_SIGNAL_SET) return SignalOp::set;
  if (op == SHMEM_SIGNAL_ADD) return SignalOp::add;
  die_bad_signal_op(function, op, pe);
}

}  // namespace railshmem
