// SPDX-License-Identifier: BSD-3-Clause
// Host calls between every two kinds of memory that a transfer may connect, over the network: heap in GPU memory, heap
// in host memory, memory of the program's own. Never touches GPU memory itself, so it also runs where the CPU faults
// there (RAILSHMEM_FAKE_GUARDED), with a provider that does not.
#include <shmem.h>
#include <shmemx.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr size_t kMost = (size_t{3} << 20) + 5;
constexpr size_t kSizes[] = {1, 7, 8, 9, 64, 200, 4096, 5000, 70000, (size_t{1} << 20) + 3, kMost};

using Bytes = std::vector<unsigned char>;

int failures = 0;
unsigned round_number = 0;

/// What PE `pe` sends in this round.
Bytes pattern(int pe, size_t nbytes) {
  Bytes bytes(nbytes);
  for (size_t i = 0; i < nbytes; ++i)
    bytes[i] = static_cast<unsigned char>(i * 7 + (i >> 8) + static_cast<size_t>(pe) * 31 + round_number * 17);
  return bytes;
}

/// A symmetric block at each of two places, one in either heap, of which a test uses one.
struct Block {
  unsigned char* at[2];
  explicit Block(size_t nbytes)
      : at{static_cast<unsigned char*>(shmem_malloc(nbytes)), static_cast<unsigned char*>(shmemx_malloc_host(nbytes))} {
  }
  ~Block() {
    for (unsigned char* block : at) shmem_free(block);
  }
};

void store(unsigned char* place, const Bytes& bytes) {
  shmem_putmem(place, bytes.data(), bytes.size(), shmem_my_pe());
  shmem_quiet();
}
Bytes load(const unsigned char* place, size_t nbytes) {
  Bytes bytes(nbytes);
  shmem_getmem(bytes.data(), place, nbytes, shmem_my_pe());
  return bytes;
}
void expect(const char* what, const Bytes& got, const Bytes& wanted, int from, int to) {
  if (got == wanted) return;
  const size_t at = static_cast<size_t>(std::mismatch(got.begin(), got.end(), wanted.begin()).first - got.begin());
  std::printf("not true: %s of %zu bytes, memory %d to %d: byte %zu is %d, not %d\n", what, got.size(), from, to, at,
              got[at], wanted[at]);
  ++failures;
}

struct Peers {
  int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, previous = (me + n - 1) % n;
};

/// Local memory of kind `from` (2: the program's own) to the next PE's of kind `to`.
void puts(const Peers& pes, Block& source, Block& dest, uint64_t* signal, size_t nbytes, int from, int to) {
  for (int way = 0; way < 4; ++way) {
    ++round_number;
    Bytes mine = pattern(pes.me, nbytes);
    if (from < 2) store(source.at[from], mine);
    const unsigned char* const local = from < 2 ? source.at[from] : mine.data();
    if (way == 0) shmem_putmem(dest.at[to], local, nbytes, pes.next);
    if (way == 1) shmem_putmem_nbi(dest.at[to], local, nbytes, pes.next);
    if (way == 2) shmem_putmem_signal(dest.at[to], local, nbytes, signal, round_number, SHMEM_SIGNAL_SET, pes.next);
    if (way == 3) shmem_putmem_signal_nbi(dest.at[to], local, nbytes, signal, round_number, SHMEM_SIGNAL_SET, pes.next);
    if (way < 2) {
      shmem_barrier_all();
    } else {
      shmem_signal_wait_until(signal, SHMEM_CMP_EQ, round_number);
    }
    static const char* const kWays[] = {"put", "put_nbi", "put_signal", "put_signal_nbi"};
    expect(kWays[way], load(dest.at[to], nbytes), pattern(pes.previous, nbytes), from, to);
    shmem_barrier_all();
  }
}

void gets(const Peers& pes, Block& source, Block& dest, size_t nbytes, int from, int to) {
  for (int way = 0; way < 2; ++way) {
    ++round_number;
    store(source.at[from], pattern(pes.me, nbytes));
    shmem_barrier_all();
    Bytes mine(nbytes);
    unsigned char* const local = to < 2 ? dest.at[to] : mine.data();
    if (way == 0) shmem_getmem(local, source.at[from], nbytes, pes.next);
    if (way == 1) shmem_getmem_nbi(local, source.at[from], nbytes, pes.next);
    if (way == 1) shmem_quiet();
    expect(way == 0 ? "get" : "get_nbi", to < 2 ? load(dest.at[to], nbytes) : mine, pattern(pes.next, nbytes), from,
           to);
    shmem_barrier_all();
  }
}

/// Over the borders of the pieces in which the heap has grown.
void across_pieces(const Peers& pes) {
  constexpr size_t kBlock = size_t{72} << 20, kStep = size_t{1} << 20, kWindow = kStep + 10000;
  auto* const block = static_cast<unsigned char*>(shmem_malloc(kBlock));
  for (size_t at = 0; at + kWindow <= kBlock; at += kStep) {
    const size_t begin = at > 0 ? at - kWindow / 2 : 0;
    ++round_number;
    const Bytes mine = pattern(pes.me, kWindow);
    shmem_putmem(block + begin, mine.data(), kWindow, pes.next);
    shmem_barrier_all();
    expect("put near a border", load(block + begin, kWindow), pattern(pes.previous, kWindow), 2, 0);
    shmem_putmem_nbi(block + (begin + kBlock / 2) % (kBlock - kWindow), block + begin, kWindow, pes.next);
    shmem_barrier_all();
    expect("put between borders", load(block + (begin + kBlock / 2) % (kBlock - kWindow), kWindow),
           pattern((pes.previous + pes.n - 1) % pes.n, kWindow), 0, 0);
    shmem_barrier_all();
  }
  ++round_number;
  const Bytes mine = pattern(pes.me, kBlock);
  shmem_putmem(block, mine.data(), kBlock, pes.next);
  shmem_barrier_all();
  expect("put of a large block", load(block, kBlock), pattern(pes.previous, kBlock), 2, 0);
  Bytes back(kBlock);
  shmem_getmem(back.data(), block, kBlock, pes.next);
  expect("get of a large block", back, mine, 0, 2);
  shmem_barrier_all();
  shmem_free(block);
}

/// Words that are put and then updated, in order.
void words(const Peers& pes) {
  auto* const word = static_cast<uint64_t*>(shmem_malloc(64));
  for (uint64_t i = 1; i <= 100; ++i) {
    shmem_uint64_p(word, 1000 * i, pes.next);
    shmem_fence();
    shmem_uint64_atomic_add(word, i, pes.next);
    shmem_fence();
    shmem_uint64_atomic_add(word + 1, 1, pes.next);
    shmem_barrier_all();
    const uint64_t got = shmem_uint64_atomic_fetch(word, pes.me);
    if (got != 1000 * i + i) {
      std::printf("not true: word is %llu in round %llu\n", static_cast<unsigned long long>(got),
                  static_cast<unsigned long long>(i));
      ++failures;
    }
    shmem_barrier_all();
  }
  shmem_free(word);
}

}  // namespace

int main() {
  shmem_init();
  {
    const Peers pes;
    auto* const signal = static_cast<uint64_t*>(shmem_calloc(1, sizeof(uint64_t)));
    Block source(kMost), dest(kMost);
    for (const size_t nbytes : kSizes)
      for (int from = 0; from < 3; ++from)
        for (int to = 0; to < 2; ++to) {
          puts(pes, source, dest, signal, nbytes, from, to);
          if (from < 2) gets(pes, source, dest, nbytes, from, to);
          if (from < 2 && to == 1) gets(pes, source, dest, nbytes, from, 2);
        }
    words(pes);
    across_pieces(pes);
    shmem_free(signal);
    std::printf("direct_paths: PE %d of %d: %d failures\n", pes.me, pes.n, failures);
  }
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
