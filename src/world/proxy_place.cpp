// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/proxy_place.h"

#include "src/base/error.h"
#include "src/topology/machine.h"
#include "src/topology/thread_cpus.h"

namespace railshmem {

std::string place_proxy(Network& network, const CpuWish& wish, const ProxyPlace& place) {
  const bool lists = wish.kind == CpuWish::Kind::lists;
  if (wish.kind == CpuWish::Kind::none || lists != place.gpu.empty()) return {};
  const cpu_set_t cpus =
      lists ? of_list(wish, place.host_slot) : nearest(place.cpus, Machine::read().cpus_near(place.gpu));
  if (CPU_COUNT(&cpus) == 0) return {};
  bool bound = false;
  network.run_on_proxy([&] { bound = bind_thread(cpus, lists ? Binding::demanded : Binding::hoped_for); });
  if (!bound) return {};
  return text("proxy thread on CPUs %s%s\n", cpu_list(cpus).c_str(), lists ? "" : ", near the GPU");
}

}  // namespace railshmem
