// SPDX-License-Identifier: BSD-3-Clause
//
// broadcast, collect, fcollect, alltoall and alltoalls of 32 and 64 bits over every active set.
#include <cstring>

#include "active_sets.h"

namespace {

int me, npes;
constexpr size_t kGuard = 64;  // bytes kept at 0xa5 before and after each dest

template <class T>
constexpr bool kWide = sizeof(T) == 8;

/// What rank r of a set has for rank k, element i.
template <class T>
T value_of(int r, int k, size_t i) {
  return static_cast<T>((static_cast<uint64_t>(r) + 1) * 1000003u + static_cast<uint64_t>(k) * 10007u + i * 17u +
                        (i << 40));
}

/// A dest per set, so that all sets can run without a barrier between them.
template <class T>
struct Arena {
  Arena(size_t sets, size_t elements)
      : source(static_cast<T*>(check_alloc((elements + 1) * sizeof(T)))),
        each(2 * kGuard + elements * sizeof(T)),
        base(static_cast<unsigned char*>(check_alloc(sets * each))) {
    memset(base, 0xa5, sets * each);
    shmem_barrier_all();
  }
  ~Arena() {
    shmem_barrier_all();
    shmem_free(base);
    shmem_free(source);
  }
  Arena(const Arena&) = delete;
  T* dest(size_t set) const { return reinterpret_cast<T*>(base + set * each + kGuard); }
  /// Only the first `used` elements were written.
  void check_guards(size_t set, size_t used) const {
    CHECK_BYTES(base + set * each, kGuard, 0xa5);
    CHECK_BYTES(base + set * each + kGuard + used * sizeof(T), each - kGuard - used * sizeof(T), 0xa5);
  }

  T* source;
  const size_t each;
  unsigned char* base;
};

template <class T>
void expect(const T* dest, size_t i, T expected) {
  CHECK(dest[i] == expected, "element %zu is 0x%llx, expected 0x%llx", i, static_cast<unsigned long long>(dest[i]),
        static_cast<unsigned long long>(expected));
}

template <class T, class Body>
void over_sets(const char* what, size_t elements_of_world, Body body) {
  const std::vector<ActiveSet> sets = all_active_sets();
  const SyncArrays psync(sets.size());
  const Arena<T> arena(sets.size(), elements_of_world);
  for (size_t s = 0; s < sets.size(); ++s) {
    if (sets[s].rank < 0) continue;
    CHECK_STEP_SET(what, sets[s]);
    const size_t used = body(sets[s], arena.source, arena.dest(s), psync[s]);
    SyncArrays::check(psync[s]);
    arena.check_guards(s, used);
  }
  psync.check_all();
}

template <class T>
void test_broadcast(size_t n, int root_seed) {
  over_sets<T>("broadcast", n, [&](const ActiveSet& set, T* source, T* dest, long* psync) -> size_t {
    const int root = root_seed % set.size;
    for (size_t i = 0; i < n; ++i) source[i] = value_of<T>(set.rank, root, i);
    auto* call = kWide<T> ? shmem_broadcast64 : shmem_broadcast32;
    call(dest, source, n, root, SET_ARGUMENTS(set), psync);
    if (set.rank == root) return 0;  // the root's dest is left alone
    for (size_t i = 0; i < n; ++i) expect(dest, i, value_of<T>(root, root, i));
    return n;
  });
}

template <class T>
void test_fcollect(size_t n) {
  over_sets<T>("fcollect", n * static_cast<size_t>(npes), [&](const ActiveSet& set, T* source, T* dest, long* psync) {
    for (size_t i = 0; i < n; ++i) source[i] = value_of<T>(set.rank, 0, i);
    auto* call = kWide<T> ? shmem_fcollect64 : shmem_fcollect32;
    call(dest, source, n, SET_ARGUMENTS(set), psync);
    for (int r = 0; r < set.size; ++r)
      for (size_t i = 0; i < n; ++i) expect(dest, static_cast<size_t>(r) * n + i, value_of<T>(r, 0, i));
    return static_cast<size_t>(set.size) * n;
  });
}

/// Rank r gives as many elements as `share` says, none included.
template <class T>
void test_collect(size_t n, int pattern) {
  const auto share = [&](int r) {
    return pattern == 0 ? n : (static_cast<size_t>(r) * 7 + 3) % (n + 1) * (r % 3 != 1);
  };
  over_sets<T>("collect", n * static_cast<size_t>(npes), [&](const ActiveSet& set, T* source, T* dest, long* psync) {
    for (size_t i = 0; i < share(set.rank); ++i) source[i] = value_of<T>(set.rank, 0, i);
    auto* call = kWide<T> ? shmem_collect64 : shmem_collect32;
    call(dest, source, share(set.rank), SET_ARGUMENTS(set), psync);
    size_t used = 0;
    for (int r = 0; r < set.size; ++r)
      for (size_t i = 0; i < share(r); ++i) expect(dest, used++, value_of<T>(r, 0, i));
    return used;
  });
}

template <class T>
void test_alltoall(size_t n) {
  over_sets<T>("alltoall", n * static_cast<size_t>(npes), [&](const ActiveSet& set, T* source, T* dest, long* psync) {
    for (int k = 0; k < set.size; ++k)
      for (size_t i = 0; i < n; ++i) source[static_cast<size_t>(k) * n + i] = value_of<T>(set.rank, k, i);
    auto* call = kWide<T> ? shmem_alltoall64 : shmem_alltoall32;
    call(dest, source, n, SET_ARGUMENTS(set), psync);
    for (int r = 0; r < set.size; ++r)
      for (size_t i = 0; i < n; ++i) expect(dest, static_cast<size_t>(r) * n + i, value_of<T>(r, set.rank, i));
    return static_cast<size_t>(set.size) * n;
  });
}

/// What is between the strided elements must not be touched.
template <class T>
void test_alltoalls(size_t n, size_t dst, size_t sst) {
  const size_t elements = n * static_cast<size_t>(npes) * (dst > sst ? dst : sst);
  over_sets<T>("alltoalls", elements, [&](const ActiveSet& set, T* source, T* dest, long* psync) -> size_t {
    for (int k = 0; k < set.size; ++k)
      for (size_t i = 0; i < n; ++i) source[(static_cast<size_t>(k) * n + i) * sst] = value_of<T>(set.rank, k, i);
    auto* call = kWide<T> ? shmem_alltoalls64 : shmem_alltoalls32;
    call(dest, source, static_cast<ptrdiff_t>(dst), static_cast<ptrdiff_t>(sst), n, SET_ARGUMENTS(set), psync);
    const size_t used = static_cast<size_t>(set.size) * n;
    for (size_t e = 0; e < used; ++e) {
      expect(dest, e * dst, value_of<T>(static_cast<int>(e / n), set.rank, e % n));
      if (dst > 1) CHECK_BYTES(dest + e * dst + 1, (dst - 1) * sizeof(T), 0xa5);
    }
    return used * dst;
  });
}

/// Again and again with two arrays in turn, as programs do; nothing else between the calls but what they imply.
template <class T>
void test_alternating(size_t n, int rounds) {
  const ActiveSet set = make_active_set(npes > 1 ? 1 : 0, 0, npes > 1 ? npes - 1 : 1);
  const SyncArrays psync(2);
  const size_t members = static_cast<size_t>(npes);
  T* source = static_cast<T*>(check_alloc(members * n * sizeof(T)));
  T* dest[2] = {static_cast<T*>(check_alloc(members * n * sizeof(T))),
                static_cast<T*>(check_alloc(members * n * sizeof(T)))};
  CHECK_STEP_SET("alternating arrays", set);
  for (int round = 0; set.rank >= 0 && round < rounds; ++round) {
    T* to = dest[round % 2];
    const size_t offset = static_cast<size_t>(round);
    for (size_t i = 0; i < members * n; ++i) source[i] = value_of<T>(set.rank, static_cast<int>(i / n), i % n + offset);
    if (round % 3 == 0)
      (kWide<T> ? shmem_fcollect64 : shmem_fcollect32)(to, source, n, SET_ARGUMENTS(set), psync[round % 2 ? 1 : 0]);
    else if (round % 3 == 1)
      (kWide<T> ? shmem_collect64 : shmem_collect32)(to, source, n, SET_ARGUMENTS(set), psync[round % 2 ? 1 : 0]);
    else
      (kWide<T> ? shmem_alltoall64 : shmem_alltoall32)(to, source, n, SET_ARGUMENTS(set), psync[round % 2 ? 1 : 0]);
    for (int r = 0; r < set.size; ++r)
      for (size_t i = 0; i < n; ++i)
        expect(to, static_cast<size_t>(r) * n + i, value_of<T>(r, round % 3 == 2 ? set.rank : 0, i + offset));
  }
  psync.check_all();
  shmem_free(source);
  shmem_free(dest[0]);
  shmem_free(dest[1]);
}

template <class T>
void test_all() {
  const size_t large = check_quick() ? 700 : 3000;
  for (const size_t n : {size_t{1}, size_t{5}, large}) {
    for (const int root : {0, 1, 6}) test_broadcast<T>(n, root);
    test_fcollect<T>(n);
    test_collect<T>(n, 0);
    test_collect<T>(n, 1);
    test_alltoall<T>(n);
  }
  for (const size_t stride : {1, 3}) {
    test_alltoalls<T>(7, stride, 1);
    test_alltoalls<T>(7, 2, stride);
  }
  test_broadcast<T>(0, 0);
  test_fcollect<T>(0);
  test_collect<T>(0, 0);
  test_alltoall<T>(0);
  test_alternating<T>(20, check_rounds(npes > 2 ? 300 : 1000));
}

}  // namespace

int main() {
  check_begin("active_data");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  test_all<uint32_t>();
  test_all<uint64_t>();
  return check_end();
}
