// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/thread_cpus.h"

#include <cerrno>
#include <cstring>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem {

cpu_set_t of_list(const CpuWish& wish, size_t host_slot) noexcept {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : wish.lists[host_slot % wish.lists.size()]) CPU_SET(cpu, &cpus);
  return cpus;
}

cpu_set_t nearest(const cpu_set_t& own, const cpu_set_t& near) noexcept {
  cpu_set_t both;
  CPU_AND(&both, &own, &near);
  if (CPU_EQUAL(&both, &own)) CPU_ZERO(&both);
  return both;
}

bool bind_thread(const cpu_set_t& cpus, Binding binding) {
  if (sched_setaffinity(0, sizeof cpus, &cpus) == 0) return true;
  const std::string why = text("the proxy thread cannot run on CPUs %s: %s", cpu_list(cpus).c_str(), strerror(errno));
  if (binding == Binding::demanded)
    throw Error(why + "; SHMEM_PROXY_AFFINITY must name CPUs that this machine has and the job may use, or auto");
  log_info("%s", why.c_str());
  return false;
}

}  // namespace railshmem
