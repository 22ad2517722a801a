// SPDX-License-Identifier: BSD-3-Clause
// Collectives on global objects of the executable, and with the heap on one side and a global object on the other.
#include "collective_ops.h"

namespace {

constexpr size_t kBytes = size_t{1} << 20;
unsigned char global_dest[kBytes];
unsigned char global_source[kBytes] = {1};

void everything(Ground& ground, unsigned seed) {
  const int members = shmem_n_pes();
  for (const size_t nelems : {size_t{5}, size_t{48}, size_t{3000}, size_t{9000}})
    for (int kind = 0; kind < kKinds; ++kind)
      for (int root = 0; root < (kind == 0 ? members : 1); ++root) {
        Op op{static_cast<Kind>(kind), &mem_forms(), nelems, ++seed};
        op.root = root;
        if (op.kind == Kind::alltoalls) op.nelems = nelems % 600, op.dst = 3, op.sst = 2;
        ground.run(op, SHMEM_TEAM_WORLD);
      }
}

}  // namespace

int main() {
  check_begin("collective_globals");
  if (!shmem_addr_accessible(global_dest, shmem_my_pe())) return check_skip("global objects are not symmetric here");
  auto* const heap_dest = static_cast<unsigned char*>(check_alloc(kBytes));
  auto* const heap_source = static_cast<unsigned char*>(check_alloc(kBytes));
  Ground both(global_dest, kBytes, global_source, kBytes);
  Ground to_global(global_dest, kBytes, heap_source, kBytes);
  Ground to_heap(heap_dest, kBytes, global_source, kBytes);
  everything(both, 100);
  everything(to_global, 1000);
  everything(to_heap, 2000);
  return check_end();
}
