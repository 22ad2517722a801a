// SPDX-License-Identifier: BSD-3-Clause
// The process's part in a job. Started by init, counted, left by finalize.
#pragma once

#include <memory>

#include "src/plugin/bootstrap.h"
#include "src/world/world.h"

namespace railshmem::job {

/// Starts the library or, when it runs already, counts one more user. Collective. Throws Error.
/// Returns the thread level granted.
int start(int requested_thread_level, const BootstrapRequest& request);

/// The last call leaves the job (collective); an earlier one is a barrier.
void finish();

/// finish() for a process that ends with a nonzero status, after which its peers may wait for it elsewhere: when they
/// do not come to their own finish() within half a second, the process ends at once, and with it the job.
void finish_failed(int status);

bool running() noexcept;
/// Whether it has run in this process, and may run still.
bool has_run() noexcept;
int thread_level() noexcept;

/// The running World; ends the job with a message naming `function` if none exists.
World& world(const char* function) noexcept;

/// world() for calls that report by a status: throws Error if none exists.
World& must_run(const char* function);

/// The CUDA driver, which stays loaded; null where there is no driver.
const cuda::Driver* driver();

/// Ends every PE with `status`.
[[noreturn]] void exit_all(int status) noexcept;

/// For PEs that are threads of one process: the World of the calling thread (see bind_pe_state()).
void bind_world(World* world) noexcept;

}  // namespace railshmem::job
