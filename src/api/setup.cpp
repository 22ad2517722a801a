// SPDX-License-Identifier: BSD-3-Clause
// Start, exit and thread levels: every name of include/shmem/setup.h for these, and the old start_pes.
#include <stdio.h>
#include <stdlib.h>

#include "src/api/entry.h"
#include "src/api/job.h"
#include "src/base/guard.h"
#include "src/base/job_end.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/base/system_limits.h"

using namespace railshmem;

namespace {

/// Writes what stdout holds, unless another thread uses it: a thread may keep its lock as long as it likes. Not
/// fflush(nullptr), which waits for the locks of all files.
void flush_stdout() noexcept {
  if (ftrylockfile(stdout) != 0) return;
  fflush(stdout);
  funlockfile(stdout);
}

/// 0, or nonzero after printing why the library could not start.
int try_start(const char* function, int requested, int* provided, const BootstrapRequest& request) noexcept {
  if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
    log_error("%s: thread level %d is invalid; use SHMEM_THREAD_SINGLE (%d) to SHMEM_THREAD_MULTIPLE (%d)", function,
              requested, SHMEM_THREAD_SINGLE, SHMEM_THREAD_MULTIPLE);
    return 1;
  }
  return guard(function, [&] {
    const int granted = job::start(requested, request);
    if (provided) *provided = granted;
  });
}

/// The finalize that start_pes implies.
void finish_at_exit(int status, void*) {
  if (is_forked_child() || this_thread_ends()) return;
  // Now, because the launcher may end this PE as soon as another one has left with a nonzero status.
  flush_stdout();
  if (status == 0) return job::finish();
  job::finish_failed(status);
}

}  // namespace

extern "C" {

int pshmem_init_thread(int requested, int* provided) {
  return try_start("shmem_init_thread", requested, provided, {});
}

void pshmem_init(void) {
  // The library may choose. Calls from one thread at a time cost nothing; from several at once they cost a lock where
  // there is a network, which a program has to ask for.
  try {
    job::start(SHMEM_THREAD_SERIALIZED, {});
  } catch (const std::exception& e) {
    die("shmem_init: this PE cannot start: %s", explain(e).c_str());
  }
}

void pshmem_finalize(void) {
  if (is_forked_child()) die_forked_child("shmem_finalize");
  if (job::running()) return job::finish();
  if (!job::has_run()) die("shmem_finalize was called before shmem_init; call shmem_init first");
  // Programs call it from several places of their ends, and other libraries let that pass.
  if (!g_process.warned.second_finalize.exchange(true))
    log_warn("shmem_finalize was called once more than shmem_init; the call does nothing");
}

void pshmem_global_exit(int status) {
  job::exit_all(status);
}

void pshmem_query_thread(int* provided) {
  if (provided) *provided = job::thread_level();
}

void pshmem_query_initialized(int* initialized) {
  if (initialized) *initialized = job::running() ? 1 : 0;
}

void pstart_pes(int) {
  if (job::running()) return;
  pshmem_init();
  on_exit(finish_at_exit, nullptr);
}
}
extern "C" RAILSHMEM_API void start_pes(int npes) __attribute__((weak, alias("pstart_pes")));

RAILSHMEM_ALIAS(init_thread);
RAILSHMEM_ALIAS(init);
RAILSHMEM_ALIAS(finalize);
RAILSHMEM_ALIAS(global_exit);
RAILSHMEM_ALIAS(query_thread);
RAILSHMEM_ALIAS(query_initialized);
