// SPDX-License-Identifier: BSD-3-Clause
// The machine's tree of packages, NUMA nodes and PCI bridges, as hwloc sees it.
#pragma once

#include <sched.h>

#include <memory>
#include <string>

#include "src/topology/place.h"

struct hwloc_topology;

namespace railshmem {

/// Every place is unknown in a build without hwloc, and where hwloc cannot read the machine.
class Machine {
 public:
  /// This machine; some milliseconds, on large ones a tenth of a second: only where there is something to choose.
  static Machine read();
  /// One that `lstopo` has written as XML.
  static Machine from_xml(const std::string& xml);

  Place of_cpus(const cpu_set_t& cpus) const;
  /// Of the device at a bus address like 0000:18:00.0.
  Place of_pci(const std::string& address) const;
  /// CPUs of the NUMA node of that device; none where it is unknown.
  cpu_set_t cpus_near(const std::string& address) const;

 private:
  struct Destroy {
    void operator()(hwloc_topology* tree) const noexcept;
  };
  /// Begins a tree, which is yet to be loaded.
  hwloc_topology* begin();

  std::unique_ptr<hwloc_topology, Destroy> tree_;  ///< null: nothing is known
};

}  // namespace railshmem
