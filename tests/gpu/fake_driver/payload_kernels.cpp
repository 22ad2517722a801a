// SPDX-License-Identifier: BSD-3-Clause
// The kernels of payloads_between_pes, as host threads.
#include "tests/gpu/fake_driver/payload_kernels.h"

#include <shmem.h>

#include <atomic>
#include <cstring>

#include "tests/gpu/emulated/emulation.h"

namespace railshmem::device_heap {
namespace {

constexpr size_t kPutSizes[] = {9, 100, 1024, 1025, 4000, 14336, 16384, 16385, 49152, 65537};
constexpr uint32_t kPutThreads = 34;
constexpr size_t kOwn = 700;  ///< bytes of a thread's variable

unsigned char byte_of(int pe, uint32_t block, uint64_t number, size_t i) {
  return static_cast<unsigned char>(static_cast<uint64_t>(pe) * 101 + block * 37 + number * 11 + i * 7 + (i >> 8));
}

struct Put {
  unsigned char *dest, *source;
  size_t nbytes;
  uint64_t* signal;
  uint64_t number;
  int pe;
};

void put_with_signal(const Put& p, PutScope scope) {
  if (scope == PutScope::thread)
    shmem_putmem_signal(p.dest, p.source, p.nbytes, p.signal, p.number, SHMEM_SIGNAL_SET, p.pe);
  if (scope == PutScope::warp)
    shmemx_putmem_signal_warp(p.dest, p.source, p.nbytes, p.signal, p.number, SHMEM_SIGNAL_SET, p.pe);
  if (scope == PutScope::block)
    shmemx_putmem_signal_nbi_block(p.dest, p.source, p.nbytes, p.signal, p.number, SHMEM_SIGNAL_SET, p.pe);
}
void put_alone(const Put& p, PutScope scope, bool blocking) {
  if (scope == PutScope::thread) (blocking ? shmem_putmem : shmem_putmem_nbi)(p.dest, p.source, p.nbytes, p.pe);
  if (scope == PutScope::warp) {
    if (blocking)
      shmemx_putmem_warp(p.dest, p.source, p.nbytes, p.pe);
    else
      shmemx_putmem_nbi_warp(p.dest, p.source, p.nbytes, p.pe);
  }
  if (scope == PutScope::block) {
    if (blocking)
      shmemx_putmem_block(p.dest, p.source, p.nbytes, p.pe);
    else
      shmemx_putmem_nbi_block(p.dest, p.source, p.nbytes, p.pe);
  }
}

bool takes_part(PutScope scope) {
  const uint32_t rank = threads::rank_in_block();
  return scope == PutScope::block || rank == 0 || (scope == PutScope::warp && rank < 32);
}

/// One message, of which every thread of the block makes its part.
void send(const Put& p, PutScope scope, PutCall call) {
  const bool leads = threads::rank_in_block() == 0;
  if (call == PutCall::of_own_variable) {
    unsigned char own[kOwn];
    std::memcpy(own, p.source, p.nbytes);
    Put of_own = p;
    of_own.source = own;
    if (takes_part(scope)) put_with_signal(of_own, scope);
    std::memset(own, 0xdd, sizeof own);
    return;
  }
  if (call == PutCall::put_signal) {
    if (takes_part(scope)) put_with_signal(p, scope);
    return;
  }
  if (takes_part(scope)) put_alone(p, scope, call == PutCall::put);
  threads::sync_block();
  if (!leads) return;
  if (call == PutCall::put) std::memset(p.source, 0xdd, p.nbytes);  // the source is the caller's again
  shmem_fence();
  shmem_signal_set(p.signal, p.number, p.pe);
}

}  // namespace

uint64_t numbers_of_exchange() {
  return sizeof kPutSizes / sizeof *kPutSizes;
}

int exchange(const WorldView& world, const PutMemory& m, PutScope scope, PutCall call, int left, int right,
             uint64_t first_number) {
  std::atomic<int> wrong{0};
  const auto kernel = [&] {
    const uint32_t block = threads::block_in_grid();
    const bool leads = threads::rank_in_block() == 0;
    unsigned char* const source = m.source + block * kPutRoom;
    unsigned char* const dest = m.dest + block * kPutRoom;
    uint64_t *const there = &m.signals[block], *const read = &m.signals[kPutBlocks + block];
    uint64_t number = first_number;
    for (const size_t size : kPutSizes) {
      const size_t nbytes = call == PutCall::of_own_variable ? 9 + size % (kOwn - 9) : size;
      const size_t shift = size % 5;
      ++number;
      if (leads)
        for (size_t i = 0; i < nbytes; ++i) source[shift + i] = byte_of(shmem_my_pe(), block, number, i);
      threads::sync_block();
      send({dest + 3, source + shift, nbytes, there, number, right}, scope, call);
      if (leads) {
        if (shmem_signal_wait_until(there, SHMEM_CMP_GE, number) != number) wrong = __LINE__;
        for (size_t i = 0; i < nbytes; ++i)
          if (dest[3 + i] != byte_of(left, block, number, i)) wrong = __LINE__;
        shmem_signal_set(read, number, left);
        if (shmem_signal_wait_until(read, SHMEM_CMP_GE, number) != number) wrong = __LINE__;
        shmem_quiet();  // the source may change
      }
      threads::sync_block();
    }
  };
  emulation::run({{&world, kPutBlocks, kPutThreads, kernel}});
  return wrong.load();
}

void fill_for_gets(const PutMemory& m, int me) {
  for (uint32_t block = 0; block < kPutBlocks; ++block)
    for (size_t i = 0; i < kPutRoom; ++i) m.source[block * kPutRoom + i] = byte_of(me, block, 77, i);
}

int get_all(const WorldView& world, const PutMemory& m, PutScope scope, int right) {
  std::atomic<int> wrong{0};
  const auto kernel = [&] {
    const uint32_t block = threads::block_in_grid();
    const bool leads = threads::rank_in_block() == 0;
    const unsigned char* const from = m.source + block * kPutRoom;
    unsigned char* const to = m.dest + block * kPutRoom;
    for (const size_t nbytes :
         {size_t{1}, size_t{100}, size_t{256}, size_t{700}, size_t{4096}, size_t{9000}, size_t{16384}, size_t{40000}}) {
      const size_t shift = nbytes % 7;
      if (leads) std::memset(to, 0xdd, nbytes + 64);
      threads::sync_block();
      if (takes_part(scope)) {
        if (scope == PutScope::thread) shmem_getmem(to + 3, from + shift, nbytes, right);
        if (scope == PutScope::warp) shmemx_getmem_warp(to + 3, from + shift, nbytes, right);
        if (scope == PutScope::block) shmemx_getmem_block(to + 3, from + shift, nbytes, right);
        for (size_t i = 0; i < nbytes; ++i)
          if (to[3 + i] != byte_of(right, block, 77, shift + i)) wrong = __LINE__;
        if (to[3 + nbytes] != 0xdd || to[2] != 0xdd) wrong = __LINE__;
      }
      threads::sync_block();
    }
    unsigned char own[kOwn];
    if (leads) {
      shmem_getmem(own, from + 5, kOwn, right);
      for (size_t i = 0; i < kOwn; ++i)
        if (own[i] != byte_of(right, block, 77, 5 + i)) wrong = __LINE__;
    }
  };
  emulation::run({{&world, kPutBlocks, kPutThreads, kernel}});
  return wrong.load();
}

int put_for_ever(const WorldView& world, const PutMemory& m, int pe) {
  const auto kernel = [&] {
    const uint32_t block = threads::block_in_grid();
    for (;;) shmemx_putmem_nbi_block(m.dest + block * kPutRoom, m.source + block * kPutRoom, 16384, pe);
  };
  emulation::run({{&world, kPutBlocks, kPutThreads, kernel}});
  return 0;
}

}  // namespace railshmem::device_heap
