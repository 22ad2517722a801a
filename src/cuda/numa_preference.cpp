// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/numa_preference.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/log.h"

namespace railshmem::cuda {
namespace {

constexpr int kPreferredPolicy = 1;  // MPOL_PREFERRED: a full node spills over

}  // namespace

NumaPreference::NumaPreference(int node) noexcept {
  if (node < 0 || node >= static_cast<int>(kNodes)) return;
  unsigned long wish[kWords] = {};
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  wish[static_cast<unsigned>(node) / kBits] = 1ul << (static_cast<unsigned>(node) % kBits);
  active_ = syscall(SYS_get_mempolicy, &policy_, mask_, static_cast<unsigned long>(kNodes), nullptr, 0ul) == 0 &&
            syscall(SYS_set_mempolicy, kPreferredPolicy, wish, static_cast<unsigned long>(kNodes)) == 0;
  if (!active_) log_debug("memory cannot be asked from NUMA node %d: %s", node, std::strerror(errno));
}

NumaPreference::~NumaPreference() {
  if (active_) syscall(SYS_set_mempolicy, policy_, mask_, static_cast<unsigned long>(kNodes));
}

}  // namespace railshmem::cuda
