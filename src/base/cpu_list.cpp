// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/cpu_list.h"

namespace railshmem {

std::string cpu_list(const cpu_set_t& cpus) {
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cpus)) ++last;
    list += (list.empty() ? "" : ",") + std::to_string(cpu);
    if (last > cpu) list += "-" + std::to_string(last);
    cpu = last;
  }
  return list;
}

}  // namespace railshmem
