// SPDX-License-Identifier: BSD-3-Clause
// The grammar of SHMEM_OFI_NICS.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace railshmem::ofi {

/// What is said about NICs. A name is a libfabric domain, an interface, a device or a PCI address.
struct NicNames {
  enum class Kind { any, only, except };
  Kind kind = Kind::any;
  std::vector<std::vector<std::string>> lists;  ///< only: one or more; except: one

  /// The list for PE number `slot` of the host: lists are dealt round robin.
  const std::vector<std::string>& list(size_t slot) const noexcept { return lists[slot % lists.size()]; }
};

/// The forms accepted, for messages.
inline constexpr const char* kNicNamesForm =
    "accepted: eth0,eth1 (these, in this order), ^eth0,docker0 (all but these), or mlx5_0,mlx5_1;mlx5_2,mlx5_3 (a list "
    "for each PE of a host, round robin)";

/// Throws Error, without the accepted forms, when the value is malformed or a list names a NIC twice.
NicNames parse_nic_names(std::string_view value);

}  // namespace railshmem::ofi
