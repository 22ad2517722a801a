// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/binding.h"

#include <memory>
#include <new>

#include "src/base/cpu.h"
#include "src/base/error.h"

#if RAILSHMEM_HAVE_HWLOC
#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#endif

namespace railshmem::oshrun {

#if RAILSHMEM_HAVE_HWLOC
namespace {

using Tree = std::unique_ptr<hwloc_topology, decltype([](hwloc_topology_t tree) { hwloc_topology_destroy(tree); })>;
using Set = std::unique_ptr<hwloc_bitmap_s, decltype([](hwloc_bitmap_t set) { hwloc_bitmap_free(set); })>;

/// What PEs are divided over: with third-level caches, without the others, which takes longer to read.
Tree read_machine(const std::string& machine) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::bad_alloc();
  Tree tree(raw);
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE})
    hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (!machine.empty() && hwloc_topology_set_synthetic(raw, machine.c_str()) != 0)
    throw Error("hwloc cannot read this description of a machine");
  if (hwloc_topology_load(raw) != 0) throw Error("hwloc cannot read this machine");
  return tree;
}

void keep_only(hwloc_topology_t tree, const cpu_set_t& allowed) {
  const Set set(hwloc_bitmap_alloc());
  if (!set) throw std::bad_alloc();
  hwloc_cpuset_from_glibc_sched_affinity(tree, set.get(), &allowed, sizeof allowed);
  check_errno(hwloc_topology_restrict(tree, set.get(), HWLOC_RESTRICT_FLAG_REMOVE_CPULESS) == 0,
              "hwloc_topology_restrict");
}

cpu_set_t as_cpus(hwloc_topology_t tree, hwloc_const_cpuset_t set) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  hwloc_cpuset_to_glibc_sched_affinity(tree, set, &cpus, sizeof cpus);
  return cpus;
}

bool disjoint(const std::vector<cpu_set_t>& sets) {
  cpu_set_t seen;
  CPU_ZERO(&seen);
  for (const cpu_set_t& set : sets) {
    cpu_set_t both;
    CPU_AND(&both, &seen, &set);
    if (CPU_COUNT(&both) > 0) return false;
    CPU_OR(&seen, &seen, &set);
  }
  return true;
}

hwloc_obj_t object(hwloc_topology_t tree, hwloc_obj_type_t type, int number) {
  return hwloc_get_obj_by_type(tree, type, static_cast<unsigned>(number));
}

/// hwloc divides along packages, nodes and caches.
std::vector<cpu_set_t> shares_of_tree(hwloc_topology_t tree, int npes) {
  std::vector<hwloc_cpuset_t> sets(static_cast<size_t>(npes), nullptr);
  hwloc_obj_t root = hwloc_get_root_obj(tree);
  hwloc_distrib(tree, &root, 1, sets.data(), static_cast<unsigned>(npes), hwloc_get_type_depth(tree, HWLOC_OBJ_CORE),
                0);
  std::vector<cpu_set_t> shares;
  for (const hwloc_cpuset_t set : sets) {
    shares.push_back(as_cpus(tree, set));
    hwloc_bitmap_free(set);
  }
  return shares;
}

/// By number alone: where cores differ in size hwloc gives a large one to several PEs.
std::vector<cpu_set_t> shares_in_a_row(hwloc_topology_t tree, int cores, int npes) {
  std::vector<cpu_set_t> shares(static_cast<size_t>(npes));
  for (int pe = 0; pe < npes; ++pe) {
    cpu_set_t& share = shares[static_cast<size_t>(pe)];
    CPU_ZERO(&share);
    for (int core = pe * cores / npes; core < (pe + 1) * cores / npes; ++core) {
      const cpu_set_t one = as_cpus(tree, object(tree, HWLOC_OBJ_CORE, core)->cpuset);
      CPU_OR(&share, &share, &one);
    }
  }
  return shares;
}

std::vector<cpu_set_t> nodes(hwloc_topology_t tree, int npes) {
  const int count = hwloc_get_nbobjs_by_type(tree, HWLOC_OBJ_NUMANODE);
  std::vector<cpu_set_t> sets;
  for (int pe = 0; pe < npes; ++pe) {
    // As many PEs on each node, neighbours together.
    const int node = count >= npes ? pe : static_cast<int>(static_cast<long>(pe) * count / npes);
    sets.push_back(as_cpus(tree, object(tree, HWLOC_OBJ_NUMANODE, node)->cpuset));
  }
  return sets;
}

}  // namespace

std::vector<cpu_set_t> bindings(Bind bind, int npes, const cpu_set_t& allowed, const std::string& machine) {
  // One PE has everything that oshrun has.
  if (bind == Bind::none || npes == 0 || (bind == Bind::automatic && npes == 1)) return {};
  if (bind == Bind::automatic && CPU_COUNT(&allowed) < npes) return {};
  const Tree tree = read_machine(machine);
  keep_only(tree.get(), allowed);
  if (bind == Bind::numa) return nodes(tree.get(), npes);
  const int cores = hwloc_get_nbobjs_by_type(tree.get(), HWLOC_OBJ_CORE);
  if (cores < npes) {
    if (bind == Bind::automatic) return {};
    throw Error(
        text("%d PEs, but only %d core%s on this host (CPUs %s); leave the option out or use --bind-to numa or none",
             npes, cores, cores == 1 ? "" : "s", cpu_list(allowed).c_str()));
  }
  std::vector<cpu_set_t> shares = shares_of_tree(tree.get(), npes);
  return disjoint(shares) ? shares : shares_in_a_row(tree.get(), cores, npes);
}

#else

std::vector<cpu_set_t> bindings(Bind bind, int, const cpu_set_t&, const std::string&) {
  if (bind == Bind::automatic || bind == Bind::none) return {};
  throw Error("this oshrun was built without hwloc, which that needs; configure with -DRAILSHMEM_HWLOC=ON");
}

#endif

}  // namespace railshmem::oshrun
