// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/proxy_place.h"

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/topology/machine.h"
#include "src/topology/thread_cpus.h"

namespace railshmem {

std::string place_proxy(Network& network, const CpuWish& wish, const ProxyPlace& place) {
  const bool lists = wish.kind == CpuWish::Kind::lists;
  if (wish.kind == CpuWish::Kind::none || lists != place.gpu.empty()) return {};
  const cpu_set_t cpus =
      lists ? of_list(wish, place.host_slot) : nearest(place.cpus, Machine::read().cpus_near(place.gpu));
  if (CPU_COUNT(&cpus) == 0) return {};
  bool bound = true;
  int threads = 0;
  network.run_on_proxies([&] {
    bound &= bind_thread(cpus, lists ? Binding::demanded : Binding::hoped_for);
    ++threads;
  });
  if (!bound) return {};
  if (lists && CPU_COUNT(&cpus) < threads)
    log_warn("%d proxy threads share the CPUs %s of SHMEM_PROXY_AFFINITY; give each thread one", threads,
             cpu_list(cpus).c_str());
  return text("proxy thread%s on CPUs %s%s\n", threads > 1 ? "s" : "", cpu_list(cpus).c_str(),
              lists ? "" : ", near the GPU");
}

}  // namespace railshmem
