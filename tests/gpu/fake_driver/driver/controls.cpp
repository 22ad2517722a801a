// SPDX-License-Identifier: BSD-3-Clause
// What a program that runs on the fake driver can ask of it, by dlsym() in libcuda.so.1.
#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {

extern "C" {

/// The n-th call of this symbol from now on (1: the next) fails; with 0 all calls do.
Result railshmem_fake_fail(const char* symbol, uintptr_t nth, uintptr_t result) {
  FAKE_CALL(nothing);
  s.failures[symbol] = {s.calls[symbol] + static_cast<int>(nth == 0 ? 1 : nth), nth == 0, static_cast<Result>(result)};
  return kSuccess;
}

/// Calls of this process that wait for room in the queue of a stream, at least so many: kSuccess, else kNotReady.
Result railshmem_fake_waiting(uintptr_t least) {
  FAKE_CALL(nothing);
  return s.waiting_for_room >= least ? kSuccess : kNotReady;
}

}  // extern "C"
}  // namespace railshmem::cuda
