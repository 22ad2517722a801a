// SPDX-License-Identifier: BSD-3-Clause
// A libfabric fabric under the test's own environment variables.
#pragma once

#include <rdma/fabric.h>

#include <map>
#include <memory>
#include <string>

#include "src/base/env.h"
#include "src/base/error.h"
#include "transports/ofi/fabric.h"

namespace railshmem::testing_support {

using Settings = std::map<std::string, std::string>;

/// The fabric of one PE, together with the environment, to which its configuration refers as long as it lives. Throws
/// Error where this machine lacks the provider.
inline std::shared_ptr<ofi::Fabric> make_ofi_fabric(const Settings& settings, int pe = 0, int npes = 2) {
  struct Held {
    Held(const Settings& settings, int pe, int npes)
        : env(Env::parse([&](const char* name) -> const char* {
            const auto found = settings.find(name);
            return found == settings.end() ? nullptr : found->second.c_str();
          })),
          fabric(NetworkConfig{.env = &env, .pe = pe, .npes = npes, .threads_share_host_calls = false}) {}
    const Env env;
    ofi::Fabric fabric;
  };
  const auto held = std::make_shared<Held>(settings, pe, npes);
  return {held, &held->fabric};
}

/// Throws Error where two PEs of one process crash over this provider (docs/gotchas.md).
inline void must_serve_one_process(const std::string& provider) {
  if (provider == "shm" && FI_VERSION_GE(fi_version(), FI_VERSION(2, 5)))
    throw Error("shm of libfabric 2.5 and newer loses the way back between two PEs of one process");
}

}  // namespace railshmem::testing_support
