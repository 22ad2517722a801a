// SPDX-License-Identifier: BSD-3-Clause
// Where providers do other than the interface says, and where versions of libfabric differ. This is the one place for
// both: other files ask here, and ask the provider itself for what it can do. docs/gotchas.md tells the stories.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace railshmem::ofi {

struct Quirks {
  /// What the domain is told of our threads instead of what hints asked for. A rail has a domain of its own, which one
  /// thread uses at a time, so every level is true of it.
  fi_threading threading = FI_THREAD_UNSPEC;
  /// Messages without a slot are counted as operations, and complete to a slot that nobody reads.
  bool counts_messages = false;
  /// FI_INJECT on a send loses the operation's context. Such sends are copied at once without that flag as well.
  bool plain_sends = false;
  /// Messages must never find all receive buffers taken. Every look at the queue takes all that has arrived, and there
  /// are more buffers than one look lets in.
  bool drains = false;
  /// A read whose answer is arriving when its connection ends is reported and freed twice, which ends the process.
  bool reads_may_fail = true;
  /// The order of messages behind writes that the endpoint promises is kept.
  bool keeps_order = true;
  size_t receives = 256;                        ///< messages that may arrive between two polls: 1 MiB per rail
  size_t operations = static_cast<size_t>(-1);  ///< in flight at most
};

/// Those of a provider that this `version` of libfabric lists.
Quirks quirks_of(const fi_info& info, uint32_t version = fi_version()) noexcept;

/// Why no rail may use the provider in this `version` of libfabric, and what to do; empty: rails may.
std::string unfit(const std::string& provider, uint32_t version = fi_version());

/// What a process that is no PE of the job, but reaches the provider's ports, can do inside libfabric, where no check
/// of ours helps; empty: nothing that is known.
std::string exposure_of(const fi_info& info);

/// The listed provider that `wanted` means where libfabric lists these: itself, or the one that has taken its place.
/// Empty if none exists.
std::string provider_meant_by(const std::string& wanted, const std::vector<std::string>& listed);

}  // namespace railshmem::ofi
