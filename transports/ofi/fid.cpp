// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/fid.h"

#include <rdma/fi_errno.h>

#include <string>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/system_limits.h"

namespace railshmem::ofi {

void close_fid(fid* object) noexcept {
  const int rc = fi_close(object);
  if (rc != 0) log_warn("libfabric refused to close an object of class %zu: %s", object->fclass, fi_strerror(-rc));
}

void check(ssize_t rc, const char* call, std::string_view provider, std::source_location where) {
  if (rc >= 0) return;
  const int error = static_cast<int>(-rc);  // the numbers of errno where errno has the error
  // What may be tried again is not checked here; at a start libfabric 2 reports a lack of memory so.
  const std::string limits = error == FI_EAGAIN ? memory_limits() : limits_behind(error);
  throw Error(text("%s failed: %s (provider %.*s)%s", call, fi_strerror(error), static_cast<int>(provider.size()),
                   provider.data(), limits.c_str()),
              where);
}

}  // namespace railshmem::ofi
