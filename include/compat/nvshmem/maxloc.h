// SPDX-License-Identifier: BSD-3-Clause
//
// The reduction of pairs of a value and its place.
#ifndef RAILSHMEM_COMPAT_NVSHMEM_MAXLOC_H
#define RAILSHMEM_COMPAT_NVSHMEM_MAXLOC_H

#include "nvshmem/constants.h"

#if defined(__CUDACC__) && defined(RAILSHMEM_KERNEL_NAMES)
namespace railshmem {
namespace compat {

/// The pair with the larger x; of pairs with equal x the pair of the lower member.
struct MaxLocation {
  __device__ static double2 of(double2 a, double2 b) { return b.x > a.x ? b : a; }
};

}  // namespace compat
}  // namespace railshmem

/// Pairs of a value, x, and where it is, y: the largest values of the team with their places.
__device__ inline int nvshmemx_double2_maxloc_reduce_block(nvshmem_team_t team, double2* dest, const double2* source,
                                                           size_t nreduce) {
  using railshmem::WorldView;
  namespace device = railshmem::device;
  return device::on_team(railshmem::DeviceCall::reduce, team, dest,
                         [=](const WorldView& world, const device::Members& t) {
                           return device::reduce_far<double2, railshmem::compat::MaxLocation, device::BlockScope>(
                               world, t.row(), dest, source, nreduce, 0);
                         });
}
#endif

#endif
