// SPDX-License-Identifier: BSD-3-Clause
// The calls of kernels that benches make, each under one name, so that one source measures two libraries. kScope: which
// threads call together; all of them pass equal arguments.
//
//   put_nbi<kScope> get_nbi<kScope>          bytes, complete at quiet()
//   get<kScope>                              bytes, which are there when it returns
//   put_value get_value                      8 bytes
//   put_signal_nbi<kScope>                   bytes, then SET of a signal
//   set_signal wait_signal                   wait_signal returns whether the word reached the value in time
//   amo<kind>                                on 8 bytes
//   quiet                                    by one thread, after the others have come to a barrier
//   barrier<kScope> fcollect<kScope> alltoall<kScope> sum<kScope>      over all PEs
#pragma once

#if defined(RAILSHMEM_PERF_NVSHMEM)
#include "perftest/device/api_nvshmem.cuh"
#else
#include "perftest/device/api_railshmem.cuh"
#endif
