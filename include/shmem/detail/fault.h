// SPDX-License-Identifier: BSD-3-Clause
// What a kernel leaves for the host when an operation of it fails.
#ifndef SHMEM_DETAIL_FAULT_H
#define SHMEM_DETAIL_FAULT_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/portable.h"

namespace railshmem {

// clang-format off

/// Families of calls, for messages: X(NAME). The type and scope of a call are not told apart.
#define RAILSHMEM_DEVICE_CALLS(X)                                                                                    \
  X(put) X(put_nbi) X(get) X(get_nbi) X(p) X(g) X(iput) X(iget) X(ibput) X(ibget) X(put_signal) X(put_signal_nbi)    \
  X(signal_set) X(signal_add) X(signal_wait_until) X(atomic) X(atomic_fetch) X(atomic_fetch_nbi) X(wait_until)       \
  X(fence) X(quiet) X(pe_quiet) X(team_sync) X(sync_all) X(barrier_all) X(broadcast) X(collect) X(fcollect)          \
  X(alltoall) X(alltoalls) X(reduce) X(coll_on_stream) X(moe_dispatch) X(moe_combine) X(moe_bulk_dispatch) X(moe_bulk_combine) \
  X(moe_bulk_layout)

// clang-format on

enum class DeviceCall : uint32_t {
  none,
#define RAILSHMEM_ENUMERATOR(NAME) NAME,
  RAILSHMEM_DEVICE_CALLS(RAILSHMEM_ENUMERATOR)
#undef RAILSHMEM_ENUMERATOR
};

#if !defined(__CUDACC_RTC__)
/// The name without prefix and type.
inline const char* name_of(DeviceCall call) {
  // clang-format off
  switch (call) {
    case DeviceCall::none:
      break;
#define RAILSHMEM_NAME(NAME) \
  case DeviceCall::NAME:     \
    return #NAME;
      RAILSHMEM_DEVICE_CALLS(RAILSHMEM_NAME)
#undef RAILSHMEM_NAME
  }
  // clang-format on
  return "?";
}
#endif

/// It is in host memory that kernels can write. Only the first failure is kept: later ones mostly follow from it.
struct alignas(64) FaultRecord {
  uint64_t status;    ///< ChannelStatus
  uint64_t address;   ///< the symmetric or local address that the call was about
  uint64_t clock_ns;  ///< of the GPU
  int32_t pe;         ///< as the program gave it
  DeviceCall call;
  uint32_t block, thread;
  uint64_t ready;  ///< 1: the fields above are written; the host sets it back to 0 when it has reported them
};
static_assert(sizeof(FaultRecord) == 64 && std::is_trivially_copyable<FaultRecord>::value, "written across PCIe");

}  // namespace railshmem

#endif
