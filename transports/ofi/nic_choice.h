// SPDX-License-Identifier: BSD-3-Clause
// Which network interfaces a PE uses: a pure function of what libfabric lists, where things are, and what the user
// asked for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/topology/place.h"
#include "transports/ofi/nic_facts.h"

namespace railshmem::ofi {

/// A NIC that this machine has but that cannot be used now.
struct NotReady {
  std::string name;
  std::string why;
};

struct NicRequest {
  std::string provider;  ///< SHMEM_OFI_PROVIDER; empty = any
  std::string nics;      ///< SHMEM_OFI_NICS; empty = any
  bool several_hosts = false;
  size_t max_rails = 0;                ///< SHMEM_OFI_MAX_RAILS
  std::vector<Place> pes = {Place{}};  ///< of this host, by slot
  size_t slot = 0;                     ///< this PE among them
  std::vector<NotReady> not_ready{};   ///< of the NICs named
};

/// Why a NIC is used, or is not.
struct NicVerdict {
  std::string nic;
  bool used;
  std::string why;
};

struct NicChoice {
  std::vector<size_t> used;          ///< indices into the list, at least one, in the order of rails, one per NIC
  std::vector<NotReady> absent;      ///< named, and not among `used` because they are not listed
  std::vector<NicVerdict> verdicts;  ///< those of `used` first, then other NICs of their provider, then other providers
};

/// Throws Error listing what is available when nothing fits.
NicChoice choose_nics(std::span<const NicFacts> listed, const NicRequest& request);

}  // namespace railshmem::ofi
