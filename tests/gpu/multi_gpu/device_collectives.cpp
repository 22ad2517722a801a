// SPDX-License-Identifier: BSD-3-Clause
// Collectives and put/get of host code on a heap in the memory of GPUs, which this program touches by puts and gets to
// itself only: whatever the library did with the CPU would end it. Runs on GPUs, and on a fake driver that guards its
// memory.
#include <shmem.h>
#include <shmemx.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

__extension__ typedef float _Complex ComplexFloat;
__extension__ typedef double _Complex ComplexDouble;

constexpr size_t kLongest = 100'003;  // elements

int me = 0, npes = 0, failures = 0;
const char* what = "";
size_t nelems_now = 0;

void check(bool right, const char* detail, size_t at) {
  if (right) return;
  if (failures++ < 10)
    std::printf("FAILED %s, %zu elements: PE %d: %s, element %zu\n", what, nelems_now, me, detail, at);
}

/// Places in the heap, made once by all PEs: those of a team cannot allocate alone.
enum class Place { source, dest, work, words, kCount };
char* places[static_cast<size_t>(Place::kCount)];
size_t room = 0;  ///< bytes of each

/// An array in one of the places.
template <class T>
class Array {
 public:
  Array(Place place, size_t n) : n_(n), at_(reinterpret_cast<T*>(places[static_cast<size_t>(place)])) {
    if (n * sizeof(T) <= room) return;
    std::printf("FAILED: %zu bytes do not fit into %zu\n", n * sizeof(T), room);
    shmem_global_exit(2);
  }

  operator T*() const { return at_; }
  void set(const std::vector<T>& values) const { shmem_putmem(at_, values.data(), values.size() * sizeof(T), me); }
  void fill(T value) const { set(std::vector<T>(n_, value)); }
  std::vector<T> read(size_t n) const {
    std::vector<T> values(n);
    shmem_getmem(values.data(), at_, n * sizeof(T), me);
    return values;
  }

 private:
  const size_t n_;
  T* const at_;
};

/// Small whole numbers: exact in every type and order of adding.
template <class T>
T value_of(int pe, size_t i) {
  return static_cast<T>(1 + (static_cast<size_t>(pe) * 3 + i) % 5);
}

template <class T>
std::vector<T> values(int pe, size_t n) {
  std::vector<T> all(n);
  for (size_t i = 0; i < n; ++i) all[i] = value_of<T>(pe, i);
  return all;
}

template <class T>
void expect(const std::vector<T>& seen, const std::vector<T>& right, const char* detail) {
  for (size_t i = 0; i < right.size(); ++i) check(seen[i] == right[i], detail, i);
}

struct TeamView {
  shmem_team_t team;
  int rank, size;
  int pe(int of) const { return shmem_team_translate_pe(team, of, SHMEM_TEAM_WORLD); }
};

/// `bytes` stand for elements of any type: collectives that move data look at nothing else.
void move_data(const TeamView& t, size_t n) {
  nelems_now = n;
  const auto size = static_cast<size_t>(t.size);
  const Array<int> source(Place::source, n * size * 2), dest(Place::dest, n * size * 3);
  source.set(values<int>(me, n * size * 2));
  const auto block = [&](int of, size_t first) {
    std::vector<int> all = values<int>(t.pe(of), n * size * 2);
    return std::vector<int>(all.begin() + static_cast<long>(first), all.begin() + static_cast<long>(first + n));
  };
  const auto reset = [&] {
    dest.fill(-1);
    shmem_team_sync(t.team);
  };

  what = "broadcast";
  for (const int root : {0, t.size - 1}) {
    reset();
    shmem_int_broadcast(t.team, dest, source, n, root);
    expect(dest.read(n), block(root, 0), "of the root");
  }
  std::vector<int> right;
  what = "fcollect";
  reset();
  shmem_int_fcollect(t.team, dest, source, n);
  for (int of = 0; of < t.size; ++of) {
    const std::vector<int> one = block(of, 0);
    right.insert(right.end(), one.begin(), one.end());
  }
  expect(dest.read(n * size), right, "of all");
  what = "collect";
  reset();
  right.clear();
  const auto share = [&](int of) { return of % 3 == 1 ? 0 : n / static_cast<size_t>(of + 1); };
  shmem_int_collect(t.team, dest, source, share(t.rank));
  for (int of = 0; of < t.size; ++of) {
    const std::vector<int> one = block(of, 0);
    right.insert(right.end(), one.begin(), one.begin() + static_cast<long>(share(of)));
  }
  expect(dest.read(n * size), (right.resize(n * size, -1), right), "of all");
  what = "alltoall";
  reset();
  right.clear();
  shmem_int_alltoall(t.team, dest, source, n);
  for (int of = 0; of < t.size; ++of) {
    const std::vector<int> one = block(of, static_cast<size_t>(t.rank) * n);
    right.insert(right.end(), one.begin(), one.end());
  }
  expect(dest.read(n * size), right, "of all");
  if (n > 2000) return;  // an element is a copy
  what = "alltoalls";
  reset();
  right.assign(n * size * 3, -1);
  shmem_int_alltoalls(t.team, dest, source, 3, 2, n);
  for (int of = 0; of < t.size; ++of) {
    const std::vector<int> all = values<int>(t.pe(of), n * size * 2);
    for (size_t i = 0; i < n; ++i)
      right[(static_cast<size_t>(of) * n + i) * 3] = all[(static_cast<size_t>(t.rank) * n + i) * 2];
  }
  expect(dest.read(n * size * 3), right, "of all");
}

/// `call(dest, source)`; what member `rank` gives at i is value_of, and `combine` adds the next member's.
template <class T, class Call, class Combine>
void reduce(const TeamView& t, size_t n, Call&& call, Combine&& combine, int members) {
  nelems_now = n;
  const Array<T> source(Place::source, n), dest(Place::dest, n);
  std::vector<T> right = members > 0 ? values<T>(t.pe(0), n) : std::vector<T>(n, T(0));
  for (int of = 1; of < members; ++of)
    for (size_t i = 0; i < n; ++i) right[i] = combine(right[i], value_of<T>(t.pe(of), i));
  source.set(values<T>(me, n));
  dest.fill(T(9));
  shmem_team_sync(t.team);
  call(static_cast<T*>(dest), static_cast<const T*>(source));
  expect(dest.read(n), right, "of another array");
  shmem_team_sync(t.team);
  call(static_cast<T*>(source), static_cast<const T*>(source));
  expect(source.read(n), right, "in place");
}

#define REDUCE(N, T, OP, COMBINE)                                                                  \
  what = #N "_" #OP "_reduce";                                                                     \
  reduce<T>(                                                                                       \
      t, n, [&](T* dest, const T* source) { shmem_##N##_##OP##_reduce(t.team, dest, source, n); }, \
      [](T a, T b) -> T { return static_cast<T>(COMBINE); }, t.size)
#define SCAN(N, T, KIND, MEMBERS)                                                               \
  what = #N "_sum_" #KIND;                                                                      \
  reduce<T>(                                                                                    \
      t, n, [&](T* dest, const T* source) { shmem_##N##_sum_##KIND(t.team, dest, source, n); }, \
      [](T a, T b) -> T { return static_cast<T>(a + b); }, MEMBERS)
#define VALUES(N, T)                  \
  REDUCE(N, T, sum, a + b);           \
  REDUCE(N, T, prod, a* b);           \
  REDUCE(N, T, max, (a > b ? a : b)); \
  REDUCE(N, T, min, (a < b ? a : b))
#define INTEGER(N, T)         \
  REDUCE(N, T, and, (a & b)); \
  REDUCE(N, T, or, (a | b));  \
  REDUCE(N, T, xor, (a ^ b)); \
  VALUES(N, T)

void reduce_all_types(const TeamView& t, size_t n) {
  VALUES(schar, signed char);
  VALUES(short, short);
  VALUES(int, int);
  VALUES(longlong, long long);
  INTEGER(uchar, unsigned char);
  INTEGER(ushort, unsigned short);
  INTEGER(uint, unsigned int);
  INTEGER(uint64, uint64_t);
  VALUES(float, float);
  VALUES(double, double);
  REDUCE(complexf, ComplexFloat, sum, a + b);
  REDUCE(complexd, ComplexDouble, prod, a * b);
}

/// Into another array, and into every part of the source in turn.
void deal_out(const TeamView& t, size_t n) {
  what = "longlong_sum_reducescatter";
  nelems_now = n;
  const size_t all = n * static_cast<size_t>(t.size), mine = n * static_cast<size_t>(t.rank);
  const Array<long long> source(Place::source, all), dest(Place::dest, n);
  std::vector<long long> right(n, 0);
  for (int of = 0; of < t.size; ++of)
    for (size_t i = 0; i < n; ++i) right[i] += value_of<long long>(t.pe(of), mine + i);
  for (int part = -2; part < t.size; ++part) {  // -2: apart, -1: the own part
    source.set(values<long long>(me, all));
    dest.fill(9);
    long long* const into = part == -2 ? dest : source + (part == -1 ? mine : n * static_cast<size_t>(part));
    shmem_team_sync(t.team);
    shmemx_longlong_sum_reducescatter(t.team, into, source, n);
    std::vector<long long> seen(n);
    shmem_getmem(seen.data(), into, n * sizeof(long long), me);
    expect(seen, right, part == -2 ? "of another array" : "within the source");
    shmem_team_sync(t.team);
  }
}

void reduce_rest(const TeamView& t, size_t n) {
  SCAN(int, int, inscan, t.rank + 1);
  SCAN(double, double, exscan, t.rank);
  VALUES(longdouble, long double);  // which GPUs do not have
}

/// Sets of PEs named by each call, with their state in the heap too.
void active_sets(size_t n) {
  if (npes < 2) return;
  nelems_now = n;
  const Array<long> psync(Place::words, SHMEM_SYNC_SIZE);
  const Array<int> source(Place::source, n), dest(Place::dest, n * static_cast<size_t>(npes));
  const Array<int> work(Place::work, n + SHMEM_REDUCE_MIN_WRKDATA_SIZE);
  psync.fill(SHMEM_SYNC_VALUE);
  source.set(values<int>(me, n));
  dest.fill(-1);
  shmem_barrier_all();
  if (me > 0 || npes == 2) {
    const int first = npes == 2 ? 0 : 1, size = npes - first;
    what = "fcollect32 of an active set";
    shmem_fcollect32(dest, source, n, first, 0, size, psync);
    std::vector<int> right;
    for (int pe = first; pe < npes; ++pe) {
      const std::vector<int> one = values<int>(pe, n);
      right.insert(right.end(), one.begin(), one.end());
    }
    expect(dest.read(n * static_cast<size_t>(size)), right, "of all");
    shmem_barrier(first, 0, size, psync);
    what = "int_sum_to_all of an active set";
    shmem_int_sum_to_all(dest, source, static_cast<int>(n), first, 0, size, work, psync);
    right.assign(n, 0);
    for (int pe = first; pe < npes; ++pe)
      for (size_t i = 0; i < n; ++i) right[i] += value_of<int>(pe, i);
    expect(dest.read(n), right, "of all");
  }
  shmem_barrier_all();
}

/// Plain puts and gets, to all, with signals.
void one_sided(size_t n) {
  what = "put_signal and get";
  nelems_now = n;
  const Array<int> source(Place::source, n), dest(Place::dest, n);
  const Array<uint64_t> signal(Place::words, 1);
  signal.fill(0);
  source.set(values<int>(me, n));
  shmem_barrier_all();
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  shmem_int_put_signal(dest, source, n, signal, 5, SHMEM_SIGNAL_ADD, right);
  check(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 5) == 5, "the signal", 0);
  expect(dest.read(n), values<int>(left, n), "of the left neighbour");
  shmem_quiet();
  std::vector<int> back(n);
  shmem_int_get(back.data(), dest, n, right);
  expect(back, values<int>(me, n), "of its dest");
  shmem_barrier_all();
}

void on_team(const TeamView& t) {
  for (const size_t n : {size_t{1}, size_t{9}, size_t{300}, size_t{5000}, kLongest}) move_data(t, n);
  for (const size_t n : {size_t{3}, size_t{5000}}) reduce_all_types(t, n);
  for (const size_t n : {size_t{3}, size_t{300}, size_t{5000}}) reduce_rest(t, n);
  for (const size_t n : {size_t{1}, size_t{300}, size_t{5000}, kLongest / 2}) deal_out(t, n);
}

}  // namespace

int main() {
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  if (shmemx_attach_device() != 0) {
    if (me == 0) std::printf("skipped: no GPU\n");
    shmem_finalize();
    return 77;
  }
  room = kLongest * 3 * sizeof(int) * static_cast<size_t>(npes);
  for (char*& place : places) place = static_cast<char*>(shmem_malloc(room));
  on_team({SHMEM_TEAM_WORLD, me, npes});
  if (npes > 2) {  // all but PE 0
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes - 1, nullptr, 0, &team);
    if (team != SHMEM_TEAM_INVALID) on_team({team, me - 1, npes - 1});
    if (team != SHMEM_TEAM_INVALID) shmem_team_destroy(team);
    shmem_barrier_all();
  }
  for (const size_t n : {size_t{1}, size_t{300}, size_t{9000}}) {
    one_sided(n);
    active_sets(n);
  }
  int all = failures;
  const Array<int> mine(Place::source, 1), sum(Place::dest, 1);
  mine.fill(failures);
  shmem_barrier_all();
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, sum, mine, 1);
  all = std::max(all, sum.read(1)[0]);
  if (me == 0)
    std::printf("%s collectives of host code on device memory, %d PEs\n", all == 0 ? "ok    " : "FAILED", npes);
  shmem_finalize();
  return all == 0 ? 0 : 1;
}
