// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/state.h"

#include <pthread.h>

#include <cstring>

#include "python/src/errors.h"
#include "python/src/members.h"
#include "python/src/waiting.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

enum class State { not_started, changing, running, finalized, forked };

State g_state = State::not_started;
unsigned g_run = 0;

/// The child of a fork is no PE.
void disown_child() {
  if (g_state == State::running || g_state == State::changing) g_state = State::forked;
}

/// 0, or nonzero after a message. Python's threads call whenever they like.
int start(const Membership* membership) noexcept {
  int status = 0;
  if (membership) {
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    shmemx_uniqueid_t id{};
    std::memcpy(id.internal, membership->uid.data(), sizeof id.internal);
    status = shmemx_set_attr_uniqueid_args(membership->rank, membership->size, &id, &attr);
    if (status == 0) status = shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID | SHMEMX_INIT_THREAD_MULTIPLE, &attr);
  } else {
    int provided = 0;
    status = shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  }
  if (status != 0 || reserve_words()) return status;
  shmem_finalize();
  return 1;
}

}  // namespace

std::string unique_id() {
  shmemx_uniqueid_t id{};
  if (shmemx_get_uniqueid(&id) != 0)
    state_error("railshmem.unique_id: the library could not make one; its message on standard error says why");
  return {id.internal, sizeof id.internal};
}

void init(const Membership* membership) {
  if (g_state == State::running)
    state_error("railshmem.init: the library runs already; ask railshmem.is_initialized() first");
  if (g_state == State::changing)
    state_error("railshmem.init: another thread is in init() or finalize(); call from one thread");
  if (g_state == State::forked)
    state_error(
        "railshmem.init: this process was forked from a PE; start workers with the method 'spawn', or before init()");
  static const int registered = pthread_atfork(nullptr, nullptr, disown_child);
  if (registered != 0) state_error("railshmem.init: pthread_atfork failed; the process has no memory left");
  const State before = g_state;
  g_state = State::changing;
  int status = 0;
  {
    const Waiting waits("railshmem.init");
    status = start(membership);
  }
  g_state = status == 0 ? State::running : before;
  if (status != 0) state_error("railshmem.init: the library could not start; its message on standard error says why");
  ++g_run;
  receive_interrupts(shmem_my_pe());
}

void finalize() {
  require_running("railshmem.finalize");
  g_state = State::changing;
  {
    const Waiting waits("railshmem.finalize");
    shmem_finalize();
  }
  g_state = State::finalized;
}

bool is_initialized() noexcept {
  return g_state == State::running;
}

void require_running(const char* function) {
  switch (g_state) {
    case State::running:
      return;
    case State::not_started:
      state_error(text(function, " was called before railshmem.init(); call init() on every PE first"));
    case State::changing:
      state_error(text(function, " was called while another thread is in init() or finalize(); wait for that thread"));
    case State::finalized:
      state_error(
          text(function, " was called after railshmem.finalize(); call it before, or init() again on every PE"));
    case State::forked:
      state_error(text(function,
                       " was called in a process forked from a PE; only the parent is a PE, so start workers ",
                       "with the method 'spawn', or before init()"));
  }
}

unsigned run_number() noexcept {
  return g_run;
}

void require_pe(const char* function, int pe) {
  const int npes = shmem_n_pes();
  if (pe < 0 || pe >= npes) value_error(text(function, ": pe is ", pe, ", and this job has the PEs 0 to ", npes - 1));
}

}  // namespace railshmem::python
