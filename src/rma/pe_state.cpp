// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/pe_state.h"

#include <unistd.h>

#include "src/base/log.h"

namespace railshmem {
namespace {

thread_local PeState* t_pe_state = nullptr;

}  // namespace

PeState& find_pe_state(const char* function) noexcept {
  if (is_forked_child()) die_forked_child(function);
  if (t_pe_state) return *t_pe_state;
  if (g_process.absence.load(std::memory_order_relaxed) == Absence::finalized)
    die("%s was called after shmem_finalize; move the call before it or call shmem_init again", function);
  die("%s was called before shmem_init; call shmem_init or shmem_init_thread first", function);
}

void bind_pe_state(PeState* state) noexcept {
  t_pe_state = state;
}
PeState* bound_pe_state() noexcept {
  PeState* const state = g_process.pe_state.load(std::memory_order_relaxed);
  return state ? state : t_pe_state;
}
void set_absence(Absence absence) noexcept {
  g_process.absence.store(absence, std::memory_order_relaxed);
}
Absence absence() noexcept {
  return g_process.absence.load(std::memory_order_relaxed);
}
bool is_forked_child() noexcept {
  return absence() == Absence::forked;
}
void die_forked_child(const char* function) noexcept {
  die("%s was called in a child process (pid %d) that this PE has forked; only the process that called shmem_init may "
      "call the library",
      function, static_cast<int>(getpid()));
}

}  // namespace railshmem
