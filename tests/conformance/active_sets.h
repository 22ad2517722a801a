// SPDX-License-Identifier: BSD-3-Clause
//
// Every active set that fits into the world, each with a pSync of its own, for the programs that try old collectives.
#ifndef CONFORMANCE_ACTIVE_SETS_H
#define CONFORMANCE_ACTIVE_SETS_H

#include <vector>

#include "check.h"

struct ActiveSet {
  int start, log_stride, size;
  int rank;  ///< of this PE, -1 outside

  int pe(int of_rank) const { return start + of_rank * (1 << log_stride); }
};

inline ActiveSet make_active_set(int start, int log_stride, int size) {
  const int distance = shmem_my_pe() - start;
  const bool inside = distance >= 0 && distance % (1 << log_stride) == 0 && distance >> log_stride < size;
  return {start, log_stride, size, inside ? distance >> log_stride : -1};
}

/// All triplets, the world among them; sets of one PE once per PE, not once per stride too.
inline std::vector<ActiveSet> all_active_sets() {
  const int npes = shmem_n_pes();
  std::vector<ActiveSet> sets;
  for (int log_stride = 0; log_stride == 0 || 1 << log_stride < npes; ++log_stride)
    for (int start = 0; start < npes; ++start)
      for (int size = log_stride == 0 ? 1 : 2; start + (size - 1) * (1 << log_stride) < npes; ++size)
        sets.push_back(make_active_set(start, log_stride, size));
  return sets;
}

/// pSync arrays in the heap, as the standard wants them before the first use.
class SyncArrays {
 public:
  explicit SyncArrays(size_t n) : words_(static_cast<long*>(check_alloc(n * SHMEM_SYNC_SIZE * sizeof(long)))), n_(n) {
    for (size_t i = 0; i < n * SHMEM_SYNC_SIZE; ++i) words_[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
  }
  ~SyncArrays() { shmem_free(words_); }
  SyncArrays(const SyncArrays&) = delete;
  long* operator[](size_t i) const { return words_ + i * SHMEM_SYNC_SIZE; }
  /// Restored, as the standard promises on return.
  static void check(const long* psync) {
    for (int i = 0; i < SHMEM_SYNC_SIZE; ++i)
      CHECK(psync[i] == SHMEM_SYNC_VALUE, "pSync[%d] is %ld after the call", i, psync[i]);
  }
  void check_all() const {
    shmem_barrier_all();
    for (size_t i = 0; i < n_; ++i) check((*this)[i]);
    shmem_barrier_all();
  }

 private:
  long* words_;
  size_t n_;
};

#define CHECK_STEP_SET(what, set) \
  check_step("%s, PE_start %d, logPE_stride %d, PE_size %d", what, (set).start, (set).log_stride, (set).size)
#define SET_ARGUMENTS(set) (set).start, (set).log_stride, (set).size

#endif
