// SPDX-License-Identifier: BSD-3-Clause
// Sizes of queues and windows that a provider takes from the environment only.
#pragma once

namespace railshmem::ofi {

/// Sets, for providers that hints do not reach, what their endpoints need for our traffic, so that they do not take the
/// memory of their defaults; a variable that the user has set stays. Says so at SHMEM_DEBUG=info. Once per process,
/// before its first fi_getinfo, when libfabric reads them.
void set_provider_defaults();

}  // namespace railshmem::ofi
