// SPDX-License-Identifier: BSD-3-Clause
//
// Single values (p, g), strided elements (iput, iget) and strided blocks (ibput, ibget) of every type.
#include <algorithm>
#include <vector>

#include "check.h"
#include "type_lists.h"

namespace {

int me, npes, right, left;

using P = void (*)(void* dest, const void* value, int pe);
using G = void (*)(void* value, const void* source, int pe);
using Strided = void (*)(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe);
using Blocks = void (*)(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t n, int pe);

struct Values {
  const char* name;
  size_t element;
  size_t significant;  // bytes that travel with a value; long double has padding that need not
  P p[2];              // default context, explicit context
  G g[2];
};

struct Strides {
  const char* name;
  size_t element;
  Strided put[2], get[2];
  Blocks block_put[2], block_get[2];
};

// clang-format off
#define P_ROW(N, T) [](void* d, const void* v, int pe) { shmem_##N##_p(static_cast<T*>(d), *static_cast<const T*>(v), pe); }, \
    [](void* d, const void* v, int pe) { shmem_ctx_##N##_p(SHMEM_CTX_DEFAULT, static_cast<T*>(d), *static_cast<const T*>(v), pe); }
#define G_ROW(N, T) [](void* v, const void* s, int pe) { *static_cast<T*>(v) = shmem_##N##_g(static_cast<const T*>(s), pe); }, \
    [](void* v, const void* s, int pe) { *static_cast<T*>(v) = shmem_ctx_##N##_g(SHMEM_CTX_DEFAULT, static_cast<const T*>(s), pe); }
#define VALUES(N, T) {#N, sizeof(T), std::min<size_t>(sizeof(T), 10), {P_ROW(N, T)}, {G_ROW(N, T)}},
const Values kValues[] = {RAILSHMEM_FOR_RMA_TYPES(VALUES)};

#define STRIDED(NAME, T) [](void* d, const void* s, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe) { \
      shmem_##NAME(static_cast<T*>(d), static_cast<const T*>(s), dst, sst, n, pe); }, \
    [](void* d, const void* s, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe) { \
      shmem_ctx_##NAME(SHMEM_CTX_DEFAULT, static_cast<T*>(d), static_cast<const T*>(s), dst, sst, n, pe); }
#define BLOCKS(NAME, T) [](void* d, const void* s, ptrdiff_t dst, ptrdiff_t sst, size_t b, size_t n, int pe) { \
      shmem_##NAME(static_cast<T*>(d), static_cast<const T*>(s), dst, sst, b, n, pe); }, \
    [](void* d, const void* s, ptrdiff_t dst, ptrdiff_t sst, size_t b, size_t n, int pe) { \
      shmem_ctx_##NAME(SHMEM_CTX_DEFAULT, static_cast<T*>(d), static_cast<const T*>(s), dst, sst, b, n, pe); }
#define STRIDES_TYPED(N, T) {#N, sizeof(T), {STRIDED(N##_iput, T)}, {STRIDED(N##_iget, T)}, \
    {BLOCKS(N##_ibput, T)}, {BLOCKS(N##_ibget, T)}},
#define STRIDES_SIZED(B) {#B, B / 8, {STRIDED(iput##B, void)}, {STRIDED(iget##B, void)}, \
    {BLOCKS(ibput##B, void)}, {BLOCKS(ibget##B, void)}},
const Strides kStrides[] = {RAILSHMEM_FOR_RMA_TYPES(STRIDES_TYPED) RAILSHMEM_FOR_SIZES(STRIDES_SIZED)};
// clang-format on

/// Finite values: x87 loads need not keep the bits of what is no number.
void fill_values(unsigned char* at, const Values& values, int n, int seed) {
  check_fill(at, static_cast<size_t>(n) * values.element, seed);
  if (values.element != sizeof(long double)) return;
  for (int i = 0; i < n; ++i) {
    const long double x = seed + i + 0.25L;
    memcpy(at + static_cast<size_t>(i) * sizeof x, &x, sizeof x);
  }
}

void test_values(const Values& values, unsigned char* remote) {
  constexpr int kN = 33;
  alignas(16) unsigned char mine[kN * 16], back[kN * 16], want[kN * 16];
  for (int form = 0; form < 2; ++form) {
    check_step("%s p and g, form %d", values.name, form);
    fill_values(mine, values, kN, me + form);
    fill_values(want, values, kN, left + form);
    memset(remote, 0, sizeof mine);
    memset(back, 0, sizeof back);
    shmem_barrier_all();
    for (int i = 0; i < kN; ++i) values.p[form](remote + i * values.element, mine + i * values.element, right);
    shmem_barrier_all();
    for (int i = 0; i < kN; ++i)
      CHECK(memcmp(remote + i * values.element, want + i * values.element, values.significant) == 0, "value %d", i);
    for (int i = 0; i < kN; ++i) values.g[form](back + i * values.element, remote + i * values.element, right);
    for (int i = 0; i < kN; ++i)
      CHECK(memcmp(back + i * values.element, mine + i * values.element, values.significant) == 0, "value %d", i);
    shmem_barrier_all();
  }
}

struct Shape {
  ptrdiff_t dst, sst;
  size_t bsize, nblocks;
};
constexpr Shape kShapes[] = {{1, 1, 1, 50},   {2, 1, 1, 33}, {1, 3, 1, 17},     {5, 4, 1, 64},
                             {7, 7, 1, 1},    {3, 3, 3, 20}, {5, 4, 3, 21},     {64, 9, 8, 5},
                             {17, 40, 16, 3}, {1, 1, 1, 0},  {100, 100, 100, 2}};
constexpr size_t kArea = 512;  // elements, more than any shape spans

/// What dest must be after `source` was copied into an area of guards.
void expect(std::vector<unsigned char>& want, const unsigned char* source, size_t element, const Shape& s) {
  std::fill(want.begin(), want.end(), 0xa5);
  for (size_t b = 0; b < s.nblocks; ++b)
    memcpy(&want[b * s.dst * element], source + b * s.sst * element, s.bsize * element);
}

void check_same(const unsigned char* got, const std::vector<unsigned char>& want) {
  const size_t at = std::mismatch(want.begin(), want.end(), got).first - want.begin();
  CHECK(at == want.size(), "byte %zu is 0x%02x, expected 0x%02x", at, got[at], want[at]);
}

void test_shape(const Strides& strides, const Shape& s, int form, unsigned char* remote) {
  const size_t nbytes = kArea * strides.element;
  std::vector<unsigned char> mine(nbytes), theirs(nbytes), want(nbytes);
  check_fill(mine.data(), nbytes, me + 5);
  check_fill(theirs.data(), nbytes, left + 5);
  // Two areas at the target: one is written to, the other, with the target's own pattern, is read from.
  unsigned char* const readable = remote + kArea * 16;
  for (const bool blocks : {false, true}) {
    if (!blocks && s.bsize != 1) continue;
    check_step("%s %s strides %td %td, %zu blocks of %zu, form %d", strides.name, blocks ? "ib" : "i", s.dst, s.sst,
               s.nblocks, s.bsize, form);
    memset(remote, 0xa5, nbytes);
    memcpy(readable, mine.data(), nbytes);
    shmem_barrier_all();
    if (blocks)
      strides.block_put[form](remote, mine.data(), s.dst, s.sst, s.bsize, s.nblocks, right);
    else
      strides.put[form](remote, mine.data(), s.dst, s.sst, s.nblocks, right);
    shmem_barrier_all();
    expect(want, theirs.data(), strides.element, s);
    check_same(remote, want);
    std::vector<unsigned char> back(nbytes, 0xa5);
    if (blocks)
      strides.block_get[form](back.data(), readable, s.dst, s.sst, s.bsize, s.nblocks, left);
    else
      strides.get[form](back.data(), readable, s.dst, s.sst, s.nblocks, left);
    check_same(back.data(), want);
    shmem_barrier_all();
  }
}

}  // namespace

int main() {
  check_begin("values_strided");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  auto* remote = static_cast<unsigned char*>(check_alloc(2 * kArea * 16));
  for (const Values& values : kValues) test_values(values, remote);
  size_t turn = 0;
  for (const Strides& strides : kStrides) {
    // Each type meets some of the shapes, all types together meet all: every pair costs two barriers.
    for (const Shape& shape : kShapes)
      if (++turn % (check_quick() ? 5 : 2) == 0) test_shape(strides, shape, static_cast<int>(turn / 2 % 2), remote);
  }
  for (int form = 0; form < 2; ++form)
    for (const Shape& shape : kShapes) test_shape(kStrides[0], shape, form, remote);
  shmem_free(remote);
  return check_end();
}
