// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives that move data as one table of forms, and one checked call of any of them: the source is made just
// before the call and spoilt right after it, every byte of dest is verified, and the gaps and ends around it as well.
#ifndef CONFORMANCE_COLLECTIVE_OPS_H
#define CONFORMANCE_COLLECTIVE_OPS_H

#include <algorithm>
#include <vector>

#include "check.h"
#include "type_lists.h"

enum class Kind { broadcast, collect, fcollect, alltoall, alltoalls };
constexpr int kKinds = 5;
constexpr const char* kKindNames[kKinds] = {"broadcast", "collect", "fcollect", "alltoall", "alltoalls"};

struct Forms {
  const char* name;
  size_t element;
  int (*broadcast)(shmem_team_t, void*, const void*, size_t, int);
  int (*block[3])(shmem_team_t, void*, const void*, size_t);  // collect, fcollect, alltoall
  int (*alltoalls)(shmem_team_t, void*, const void*, ptrdiff_t, ptrdiff_t, size_t);
};

// clang-format off
#define FORMS_BLOCK(T, CALL) [](shmem_team_t team, void* d, const void* s, size_t n) { \
    return CALL(team, static_cast<T*>(d), static_cast<const T*>(s), n); }
#define FORMS(N, T, ELEMENT, BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS)                                    \
  {N, ELEMENT, [](shmem_team_t team, void* d, const void* s, size_t n, int root) {                                 \
     return BROADCAST(team, static_cast<T*>(d), static_cast<const T*>(s), n, root); },                             \
   {FORMS_BLOCK(T, COLLECT), FORMS_BLOCK(T, FCOLLECT), FORMS_BLOCK(T, ALLTOALL)},                                  \
   [](shmem_team_t team, void* d, const void* s, ptrdiff_t dst, ptrdiff_t sst, size_t n) {                         \
     return ALLTOALLS(team, static_cast<T*>(d), static_cast<const T*>(s), dst, sst, n); }},
#define FORMS_TYPED(N, T) FORMS(#N, T, sizeof(T), shmem_##N##_broadcast, shmem_##N##_collect, shmem_##N##_fcollect, \
                                shmem_##N##_alltoall, shmem_##N##_alltoalls)
inline const Forms kForms[] = {
    RAILSHMEM_FOR_RMA_TYPES(FORMS_TYPED)
    FORMS("mem", void, 1, shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem, shmem_alltoallsmem)
};
// clang-format on
constexpr size_t kFormCount = sizeof kForms / sizeof kForms[0];
inline const Forms& mem_forms() {
  return kForms[kFormCount - 1];
}

/// Pseudo-random numbers on which every PE and every machine agrees.
struct Dice {
  uint64_t state;
  unsigned roll(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>((state >> 33) % below);
  }
};

/// One call, on which all members agree.
struct Op {
  Kind kind;
  const Forms* forms;
  size_t nelems;  ///< collect: the members give about as many
  unsigned seed;
  int root = 0;
  ptrdiff_t dst = 1;
  ptrdiff_t sst = 1;

  size_t element() const { return forms->element; }
  /// Elements that a member gives to collect: every third one nothing.
  size_t given(int rank) const {
    Dice dice{seed * 1000003u + static_cast<unsigned>(rank)};
    if (dice.roll(3) == 0) return 0;
    return nelems == 0 ? 0 : dice.roll(static_cast<unsigned>(2 * nelems + 1));
  }
  size_t source_bytes(int rank, int members) const {
    switch (kind) {
      case Kind::collect:
        return given(rank) * element();
      case Kind::alltoall:
        return nelems * element() * static_cast<size_t>(members);
      case Kind::alltoalls:
        return span(sst, members);
      default:
        return nelems * element();
    }
  }
  size_t dest_bytes(int members) const {
    size_t sum = 0;
    switch (kind) {
      case Kind::broadcast:
        return nelems * element();
      case Kind::collect:
        for (int rank = 0; rank < members; ++rank) sum += given(rank) * element();
        return sum;
      case Kind::alltoalls:
        return span(dst, members);
      default:
        return nelems * element() * static_cast<size_t>(members);
    }
  }
  /// The largest source of any member.
  size_t source_room(int members) const {
    size_t room = 0;
    for (int rank = 0; rank < members; ++rank) room = std::max(room, source_bytes(rank, members));
    return room;
  }

 private:
  size_t span(ptrdiff_t stride, int members) const {
    const size_t elements = nelems * static_cast<size_t>(members);
    return elements == 0 ? 0 : ((elements - 1) * static_cast<size_t>(stride) + 1) * element();
  }
};

constexpr unsigned char kUntouched = 0xA5;
constexpr unsigned char kSpoilt = 0x5A;

/// What member `from` gives to member `to`: a pattern of its own for each pair.
inline unsigned pair_seed(const Op& op, int from, int to) {
  return op.seed * 31u + static_cast<unsigned>(from) * 7u + static_cast<unsigned>(to) * 3u;
}

inline void make_source(const Op& op, unsigned char* source, int me, int members) {
  const size_t e = op.element();
  switch (op.kind) {
    case Kind::alltoall:
      for (int to = 0; to < members; ++to)
        check_fill(source + static_cast<size_t>(to) * op.nelems * e, op.nelems * e, pair_seed(op, me, to));
      return;
    case Kind::alltoalls:
      for (int to = 0; to < members; ++to)
        for (size_t i = 0; i < op.nelems; ++i)
          for (size_t b = 0; b < e; ++b)
            source[(static_cast<size_t>(to) * op.nelems + i) * static_cast<size_t>(op.sst) * e + b] =
                check_byte(pair_seed(op, me, to), i * e + b);
      return;
    default:
      check_fill(source, op.source_bytes(me, members), pair_seed(op, me, 0));
  }
}

inline void check_spaced(const Op& op, const unsigned char* dest, int me, int members) {
  const size_t e = op.element();
  for (int from = 0; from < members; ++from)
    for (size_t i = 0; i < op.nelems; ++i) {
      const size_t at = (static_cast<size_t>(from) * op.nelems + i) * static_cast<size_t>(op.dst) * e;
      for (size_t b = 0; b < e; ++b) CHECK_EQ(dest[at + b], check_byte(pair_seed(op, from, me), i * e + b));
      const bool last = from == members - 1 && i == op.nelems - 1;
      if (!last) CHECK_BYTES(dest + at + e, (static_cast<size_t>(op.dst) - 1) * e, kUntouched);
    }
}

inline void check_dest(const Op& op, const unsigned char* dest, int me, int members) {
  const size_t block = op.nelems * op.element();
  size_t at = 0;
  switch (op.kind) {
    case Kind::broadcast:
      CHECK_PATTERN(dest, block, pair_seed(op, op.root, 0));
      return;
    case Kind::collect:
      for (int from = 0; from < members; ++from) {
        CHECK_PATTERN(dest + at, op.given(from) * op.element(), pair_seed(op, from, 0));
        at += op.given(from) * op.element();
      }
      return;
    case Kind::fcollect:
    case Kind::alltoall:
      for (int from = 0; from < members; ++from)
        CHECK_PATTERN(dest + static_cast<size_t>(from) * block, block,
                      pair_seed(op, from, op.kind == Kind::alltoall ? me : 0));
      return;
    case Kind::alltoalls:
      check_spaced(op, dest, me, members);
  }
}

inline int call_op(const Op& op, shmem_team_t team, void* dest, const void* source, int me) {
  switch (op.kind) {
    case Kind::broadcast:
      return op.forms->broadcast(team, dest, source, op.nelems, op.root);
    case Kind::alltoalls:
      return op.forms->alltoalls(team, dest, source, op.dst, op.sst, op.nelems);
    default:
      return op.forms->block[static_cast<int>(op.kind) - 1](team, dest, source,
                                                            op.kind == Kind::collect ? op.given(me) : op.nelems);
  }
}

/// Teams of every kind that this PE belongs to; SHMEM_TEAM_INVALID where it does not, so that the n-th team is of one
/// kind on all PEs. Collective.
struct TestTeam {
  const char* name;
  shmem_team_t team;
};
inline std::vector<TestTeam> make_test_teams() {
  const int n = shmem_n_pes();
  const int odd = shmem_my_pe() % 2;
  shmem_team_t reversed = SHMEM_TEAM_INVALID, halves = SHMEM_TEAM_INVALID, nested = SHMEM_TEAM_INVALID;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &reversed), 0);
  // Both halves at once: PEs 0, 2, 4 ... and, where there are some, 1, 3, 5 ...
  shmem_team_t rest = SHMEM_TEAM_INVALID;
  CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &halves), 0);
  if (n > 1) CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n / 2, NULL, 0, &rest), 0);
  if (odd) halves = rest;
  // All but the last of the reversed ones, so without PE 0.
  if (n > 2) CHECK_EQ(shmem_team_split_strided(reversed, 0, 1, n - 1, NULL, 0, &nested), 0);
  return {{"shared", SHMEM_TEAM_SHARED}, {"reversed", reversed}, {"every second", halves}, {"nested", nested}};
}

/// Symmetric memory for many calls without a synchronisation between them: every call gets a dest of its own, and all
/// use one source.
class Ground {
 public:
  static constexpr size_t kGuard = 64;

  Ground(size_t dest_bytes, size_t source_bytes)
      : Ground(static_cast<unsigned char*>(check_alloc(dest_bytes)), dest_bytes,
               static_cast<unsigned char*>(check_alloc(source_bytes)), source_bytes) {}
  /// Memory of the caller's.
  Ground(unsigned char* dest, size_t dest_bytes, unsigned char* source, size_t source_bytes)
      : dest_(dest), source_(source), dest_bytes_(dest_bytes), source_bytes_(source_bytes), used_(dest_bytes) {}

  /// Runs and checks one call; synchronises the team only when the memory is used up.
  void run(const Op& op, shmem_team_t team) {
    const int me = shmem_team_my_pe(team), members = shmem_team_n_pes(team);
    const size_t nbytes = op.dest_bytes(members);
    const size_t room = (nbytes + 2 * kGuard + 63) / 64 * 64;
    CHECK(room <= dest_bytes_ && op.source_room(members) <= source_bytes_, "%s of %zu elements does not fit",
          kKindNames[static_cast<int>(op.kind)], op.nelems);
    if (used_ + room > dest_bytes_) start_over(team);
    unsigned char* const dest = dest_ + used_ + kGuard;
    used_ += room;
    check_step("%s %s of %zu elements, root %d, strides %td and %td, seed %u, %d members",
               kKindNames[static_cast<int>(op.kind)], op.forms->name, op.nelems, op.root, op.dst, op.sst, op.seed,
               members);
    make_source(op, source_, me, members);
    CHECK_EQ(call_op(op, team, dest, source_, me), 0);
    memset(source_, kSpoilt, op.source_bytes(me, members));
    check_dest(op, dest, me, members);
    CHECK_BYTES(dest - kGuard, kGuard, kUntouched);
    CHECK_BYTES(dest + nbytes, kGuard, kUntouched);
  }

  /// Must be called before another team's calls.
  void change_team() { used_ = dest_bytes_; }

  /// All dests become untouched memory again.
  void start_over(shmem_team_t team) {
    check_step("synchronising");
    CHECK_EQ(shmem_team_sync(team), 0);
    memset(dest_, kUntouched, dest_bytes_);
    CHECK_EQ(shmem_team_sync(team), 0);
    used_ = 0;
  }

 private:
  unsigned char* dest_;
  unsigned char* source_;
  size_t dest_bytes_, source_bytes_, used_;
};

#endif
