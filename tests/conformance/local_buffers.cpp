// SPDX-License-Identifier: BSD-3-Clause
// Sources and destinations outside the symmetric memory: from malloc, on the stack, constant, mapped and unmapped at
// one address, and registered ahead.
#include <shmemx.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr size_t kMost = size_t{4} << 20;
unsigned char* g_target;  ///< symmetric, kMost bytes

int right() {
  return (shmem_my_pe() + 1) % shmem_n_pes();
}
int left() {
  return (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
}

/// Puts `source` with the pattern of (seed, PE) to the right, and gets it back from there into `dest`.
void go_round(const unsigned char* source, unsigned char* dest, size_t nbytes, unsigned seed) {
  shmem_putmem(g_target, source, nbytes, right());
  shmem_barrier_all();
  CHECK_PATTERN(g_target, nbytes, seed + static_cast<unsigned>(left()));
  if (dest) {
    shmem_getmem(dest, g_target, nbytes, right());
    CHECK_PATTERN(dest, nbytes, seed + static_cast<unsigned>(shmem_my_pe()));
  }
  shmem_barrier_all();
}

void from_malloc() {
  for (int round = 0; round < check_rounds(200); ++round) {
    const size_t nbytes = (size_t{1} << (round % 23)) + static_cast<size_t>(round);
    check_step("round %d: %zu bytes from malloc", round, nbytes);
    auto* source = static_cast<unsigned char*>(malloc(nbytes));
    auto* dest = static_cast<unsigned char*>(malloc(nbytes));
    const auto seed = static_cast<unsigned>(round);
    check_fill(source, nbytes, seed + static_cast<unsigned>(shmem_my_pe()));
    go_round(source, dest, nbytes, seed);
    free(source);
    dest = static_cast<unsigned char*>(realloc(dest, 2 * nbytes));
    check_fill(dest, 2 * nbytes, seed + 1 + static_cast<unsigned>(shmem_my_pe()));
    go_round(dest, nullptr, 2 * nbytes <= kMost ? 2 * nbytes : nbytes, seed + 1);
    free(dest);
  }
}

/// What lay at an address before must not be what travels.
void mapped_anew() {
  constexpr size_t kBytes = size_t{1} << 20;
  void* at = nullptr;
  for (int round = 0; round < check_rounds(100) + 3; ++round) {
    check_step("round %d: memory mapped anew at one address", round);
    void* p = mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    CHECK(p != MAP_FAILED && (!at || p == at), "%p instead of %p", p, at);
    at = p;
    auto* bytes = static_cast<unsigned char*>(p);
    const auto seed = static_cast<unsigned>(1000 + 3 * round);
    check_fill(bytes, kBytes, seed + static_cast<unsigned>(shmem_my_pe()));
    go_round(bytes, bytes, kBytes, seed);
    // The addresses stay taken, or a mapping of the library's threads may lie there in the next round.
    if (round % 3 == 0) mmap(p, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (round % 3 == 1) madvise(p, kBytes, MADV_DONTNEED);
  }
  munmap(at, kBytes);
}

void odd_places() {
  check_step("constant data and the stack");
  static constexpr std::array<unsigned char, 9000> constant = [] {
    std::array<unsigned char, 9000> bytes{};
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7 + i / 256);
    return bytes;
  }();
  std::array<unsigned char, 9000> stack;
  shmem_putmem(g_target, constant.data(), constant.size(), right());
  shmem_barrier_all();
  CHECK(memcmp(g_target, constant.data(), constant.size()) == 0, "constant data did not arrive");
  shmem_getmem(stack.data() + 3, g_target, stack.size() - 3, right());
  CHECK(memcmp(stack.data() + 3, constant.data(), stack.size() - 3) == 0, "got something else onto the stack");
  shmem_barrier_all();
}

void registered() {
  check_step("buffers registered ahead");
  std::vector<unsigned char> source(300000);
  std::vector<unsigned char> dest(300000);
  CHECK_EQ(shmemx_buffer_register(source.data(), source.size()), 0);
  CHECK_EQ(shmemx_buffer_register(dest.data() + 1, dest.size() - 1), 0);
  for (unsigned seed = 0; seed < 5; ++seed) {
    check_fill(source.data() + seed, 200000, seed + static_cast<unsigned>(shmem_my_pe()));
    go_round(source.data() + seed, dest.data() + seed, 200000, seed);  // the first one byte before what was registered
  }
  CHECK_EQ(shmemx_buffer_unregister(source.data()), 0);
  go_round(source.data() + 4, dest.data() + 4, 200000, 4);  // still a good source
  CHECK_EQ(shmemx_buffer_register(source.data(), source.size()), 0);
  shmemx_buffer_unregister_all();
  CHECK_EQ(shmemx_buffer_register(dest.data(), dest.size()), 0);  // and left to the end of the library
}

void mistakes() {
  check_step("mistakes with buffers");
  CHECK(shmemx_buffer_register(nullptr, 8) != 0, "NULL");
  CHECK(shmemx_buffer_register(g_target, 8) != 0, "symmetric memory");
  std::vector<unsigned char> buffer(1000);
  CHECK(shmemx_buffer_register(buffer.data(), 0) != 0, "no bytes");
  CHECK_EQ(shmemx_buffer_register(buffer.data(), 500), 0);
  CHECK(shmemx_buffer_register(buffer.data(), 500) != 0, "twice");
  CHECK(shmemx_buffer_register(buffer.data() + 499, 2) != 0, "overlap");
  CHECK(shmemx_buffer_unregister(buffer.data() + 1) != 0, "not where it begins");
  CHECK_EQ(shmemx_buffer_unregister(buffer.data()), 0);
  CHECK(shmemx_buffer_unregister(buffer.data()) != 0, "twice");
}

/// Registration by a thread of its own while others communicate: the network engine goes on meanwhile.
void beside_traffic() {
  check_step("registration beside traffic");
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      void* p = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      CHECK_EQ(shmemx_buffer_register(p, 1 << 16), 0);
      CHECK_EQ(shmemx_buffer_unregister(p), 0);
      munmap(p, 1 << 16);
    }
  });
  std::vector<unsigned char> source(50000);
  std::vector<unsigned char> dest(50000);
  for (unsigned seed = 0; seed < static_cast<unsigned>(check_rounds(200)); ++seed) {
    check_fill(source.data(), source.size(), seed + static_cast<unsigned>(shmem_my_pe()));
    go_round(source.data(), dest.data(), dest.size(), seed);
  }
  stop = true;
  other.join();
}

}  // namespace

int main() {
  unsigned char early[64];
  CHECK(shmemx_buffer_register(early, sizeof early) != 0, "before the start");
  check_prepare("local_buffers");
  int provided = 0;
  CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
  g_target = static_cast<unsigned char*>(shmem_malloc(2 * kMost));
  from_malloc();
  mapped_anew();
  odd_places();
  registered();
  mistakes();
  beside_traffic();
  shmem_free(g_target);
  return check_end();
}
