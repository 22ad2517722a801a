// SPDX-License-Identifier: BSD-3-Clause
// The cost of many PEs for each one, before any traffic: the network of one PE is connected to peers that do not exist,
// at addresses made up from its own.
#pragma once

#include <cstddef>

namespace railshmem::perftest {

struct PeersFigures {
  size_t rails;
  double descriptor_bytes;  ///< what a PE tells each other PE through the bootstrap
  double open_ms;           ///< opening the rails and registering memory; does not depend on the number of PEs
  double open_bytes;        ///< memory that the opening takes
  double connect_ms;        ///< learning all peers
  double peer_bytes;        ///< memory per peer: addresses, keys, states of paths and requests
  double context_bytes;     ///< memory per peer and context
};

/// Measures with the settings of the environment (SHMEM_OFI_*). Nobody is contacted: providers connect at the first
/// operation. Throws Error where the provider's addresses are not IP addresses.
PeersFigures measure_peers(int npes);

}  // namespace railshmem::perftest
