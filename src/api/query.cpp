// SPDX-License-Identifier: BSD-3-Clause
// Questions about PEs and addresses of include/shmem/setup.h, and the old _my_pe and _num_pes.
#include <cstring>

#include "src/api/entry.h"
#include "src/rma/peer_address.h"

using namespace railshmem;

namespace {

/// The segment of a symmetric address and whether the peer's copy can be reached at all.
const SegmentView* accessible(const PeState& state, const void* address, int pe) noexcept {
  if (static_cast<unsigned>(pe) >= static_cast<unsigned>(state.npes)) return nullptr;
  uintptr_t offset = 0;
  const SegmentView* view = find_segment(state, address, 1, &offset);
  if (!view) return nullptr;
  const int slot = state.slot(pe);
  const bool mapped = static_cast<unsigned>(slot - view->first_slot) < static_cast<unsigned>(view->slots);
  return mapped || state.network ? view : nullptr;
}

}  // namespace

extern "C" {

int pshmem_my_pe(void) {
  return pe_state("shmem_my_pe").me;
}
int pshmem_n_pes(void) {
  return pe_state("shmem_n_pes").npes;
}

int pshmem_pe_accessible(int pe) {
  const PeState& state = pe_state("shmem_pe_accessible");
  return pe >= 0 && pe < state.npes ? 1 : 0;
}

int pshmem_addr_accessible(const void* addr, int pe) {
  return accessible(pe_state("shmem_addr_accessible"), addr, pe) ? 1 : 0;
}

void* pshmem_ptr(const void* dest, int pe) {
  const PeState& state = pe_state("shmem_ptr");
  uintptr_t offset = 0;
  if (static_cast<unsigned>(pe) >= static_cast<unsigned>(state.npes)) return nullptr;
  const SegmentView* view = find_segment(state, dest, 1, &offset);
  if (!view) return nullptr;
  if (pe == state.me) return const_cast<void*>(dest);
  const int slot = state.slot(pe);
  if (static_cast<unsigned>(slot - view->first_slot) >= static_cast<unsigned>(view->slots)) return nullptr;
  return reinterpret_cast<void*>(view->node_base + static_cast<size_t>(slot) * view->stride + offset);
}

void pshmem_info_get_version(int* major, int* minor) {
  if (major) *major = SHMEM_MAJOR_VERSION;
  if (minor) *minor = SHMEM_MINOR_VERSION;
}

void pshmem_info_get_name(char* name) {
  static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN);
  if (name) std::memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}

void pshmem_pcontrol(int, ...) {}  // for profiling tools, which define their own

int p_my_pe(void) {
  return pshmem_my_pe();
}
int p_num_pes(void) {
  return pshmem_n_pes();
}
}
extern "C" RAILSHMEM_API int _my_pe(void) __attribute__((weak, alias("p_my_pe")));
extern "C" RAILSHMEM_API int _num_pes(void) __attribute__((weak, alias("p_num_pes")));

RAILSHMEM_ALIAS(my_pe);
RAILSHMEM_ALIAS(n_pes);
RAILSHMEM_ALIAS(pe_accessible);
RAILSHMEM_ALIAS(addr_accessible);
RAILSHMEM_ALIAS(ptr);
RAILSHMEM_ALIAS(info_get_version);
RAILSHMEM_ALIAS(info_get_name);
RAILSHMEM_ALIAS(pcontrol);
