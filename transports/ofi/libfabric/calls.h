// SPDX-License-Identifier: BSD-3-Clause
// What librailshmem-libfabric.so hands over: the few functions of libfabric that are called by name. All others are
// reached through its objects.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

namespace railshmem::ofi {

struct LibfabricCalls {
  const char* version;  ///< of RailSHMEM; plug-in and library are built together
  decltype(&fi_version) version_of_libfabric;
  decltype(&fi_getinfo) getinfo;
  decltype(&fi_freeinfo) freeinfo;
  decltype(&fi_dupinfo) dupinfo;
  decltype(&fi_fabric) fabric;
  decltype(&fi_strerror) strerror;
};

/// The plug-in's only symbol, a LibfabricCalls.
inline constexpr const char* kLibfabricCalls = "railshmem_libfabric_calls";

}  // namespace railshmem::ofi
