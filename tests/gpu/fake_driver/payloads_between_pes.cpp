// SPDX-License-Identifier: BSD-3-Clause
// Kernels' puts and gets of every size by every scope, through the real library: by slots where rails do not reach GPU
// memory (argument "slots"), past them where they do or without slots ("none"). With "killed" a peer dies in the
// middle.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "include/shmem/detail/portable.h"
#include "tests/gpu/fake_driver/payload_kernels.h"
#include "tests/gpu/fake_driver/unit_view.h"

using namespace railshmem::device_heap;
using railshmem::view;

namespace {

int failures = 0;

void check(bool right, const char* what, int line) {
  if (!right) std::printf("FAILED %s: PE %d, line %d\n", what, shmem_my_pe(), line);
  failures += !right;
}

/// Slots that this PE's kernels have taken so far.
uint64_t taken() {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < view.nchannels; ++i)
    for (const railshmem::PayloadView& pool : view.channels[i].payloads)
      if (pool.slots != nullptr) sum += *pool.head;
  return sum;
}

/// After a quiet, the proxy hands every slot back.
bool all_come_back() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (uint32_t i = 0; i < view.nchannels; ++i) {
    for (const railshmem::PayloadView& pool : view.channels[i].payloads) {
      if (pool.slots == nullptr) continue;
      while (railshmem::portable::load_acquire(pool.freed) != *pool.head) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
      }
    }
  }
  return true;
}

/// Everything once; `number` is the last one that was used. Returns the new last one.
uint64_t put_and_get(const PutMemory& m, uint64_t number) {
  const int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes, left = (me + npes - 1) % npes;
  const PutScope scopes[] = {PutScope::thread, PutScope::warp, PutScope::block};
  const PutCall calls[] = {PutCall::put_signal, PutCall::put_nbi, PutCall::put, PutCall::of_own_variable};
  for (const PutScope scope : scopes) {
    for (const PutCall call : calls) {
      const int line = exchange(view, m, scope, call, left, right, number);
      if (line != 0) std::printf("scope %d, call %d:\n", static_cast<int>(scope), static_cast<int>(call));
      check(line == 0, "puts between PEs", line);
      number += numbers_of_exchange();
    }
  }
  shmem_barrier_all();
  fill_for_gets(m, me);
  shmem_barrier_all();
  for (const PutScope scope : scopes) {
    const int line = get_all(view, m, scope, right);
    check(line == 0, "gets between PEs", line);
  }
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  const bool killed = std::strcmp(argv[1], "killed") == 0, by_slots = std::strcmp(argv[1], "slots") == 0;
  shmem_init();
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  const PutMemory m{static_cast<unsigned char*>(shmem_malloc(kPutBlocks * kPutRoom)),
                    static_cast<unsigned char*>(shmem_malloc(kPutBlocks * kPutRoom)),
                    static_cast<uint64_t*>(shmem_calloc(2 * kPutBlocks, sizeof(uint64_t)))};
  shmem_barrier_all();
  if (killed) {
    if (me == npes - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      raise(SIGKILL);
    }
    put_for_ever(view, m, npes - 1);
  }
  int* const over = static_cast<int*>(shmem_calloc(1, sizeof(int)));
  for (uint64_t round = 1, number = 0; *over == 0; ++round) {
    number = put_and_get(m, number);
    if (me == 0) std::printf("round %llu\n", static_cast<unsigned long long>(round));
    std::fflush(stdout);
    const bool last = me == 0 && (argc < 4 || access(argv[3], F_OK) == 0);
    for (int pe = 0; last && pe < npes; ++pe) shmem_int_p(over, 1, pe);
    shmem_barrier_all();
  }
  check(by_slots == (view.nchannels > 0 && view.channels[0].gets.slots != nullptr), "slots for gets", __LINE__);
  check(by_slots == (taken() > 0), by_slots ? "no slot was used" : "slots were used", __LINE__);
  check(all_come_back(), "slots were lost", __LINE__);
  shmem_barrier_all();
  if (me == 0 && failures == 0)
    std::printf("payloads_between_pes: passed, %d PEs, %llu slots\n", npes, static_cast<unsigned long long>(taken()));
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
