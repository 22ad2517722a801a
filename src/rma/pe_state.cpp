// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/pe_state.h"

#include <atomic>

#include "src/base/log.h"

namespace railshmem {
namespace {

thread_local PeState* t_pe_state = nullptr;
std::atomic<bool> g_finalized{false};

}  // namespace

PeState* g_pe_state = nullptr;

PeState& find_pe_state(const char* function) noexcept {
  if (t_pe_state) return *t_pe_state;
  if (g_finalized.load(std::memory_order_relaxed))
    die("%s was called after shmem_finalize; move the call before it or call shmem_init again", function);
  die("%s was called before shmem_init; call shmem_init or shmem_init_thread first", function);
}

void bind_pe_state(PeState* state) noexcept {
  t_pe_state = state;
}
PeState* bound_pe_state() noexcept {
  return g_pe_state ? g_pe_state : t_pe_state;
}
void set_finalized(bool finalized) noexcept {
  g_finalized.store(finalized, std::memory_order_relaxed);
}

}  // namespace railshmem
