// SPDX-License-Identifier: BSD-3-Clause
// A copy by load and store that the threads of a scope make together.
#ifndef SHMEM_DEVICE_COPY_BY_H
#define SHMEM_DEVICE_COPY_BY_H

#include <stdint.h>

#include "shmem/detail/copy.h"
#include "shmem/device/scope.h"

namespace railshmem {
namespace device {

template <class Scope>
RAILSHMEM_HD inline void copy_by(void* to, const void* from, uint64_t nbytes) {
  copy_shared<Scope::kCopyUnroll>(Scope::rank(), Scope::size(), to, from, nbytes);
}
template <>
RAILSHMEM_HD inline void copy_by<BlockScope>(void* to, const void* from, uint64_t nbytes) {
  copy_by_many<BlockScope::kCopyUnroll>(threads::rank_in_block_anew(), BlockScope::size(), to, from, nbytes);
}
template <>
RAILSHMEM_HD inline void copy_by<ThreadScope>(void* to, const void* from, uint64_t nbytes) {
  copy_bytes(to, from, nbytes);
}

}  // namespace device
}  // namespace railshmem

#endif
