// SPDX-License-Identifier: BSD-3-Clause
// A job whose kernels are host threads and whose GPUs are none (the fake driver): everything between a kernel's call
// and the memory of another PE's GPU, without a GPU.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <thread>

#include "tests/gpu/fake_driver/kernels.h"
#include "tests/gpu/fake_driver/unit_view.h"

using namespace railshmem::device_heap;
using railshmem::view;

namespace {

int failures = 0;

void check(const char* name, int line) {
  shmem_barrier_all();
  if (line != 0) std::printf("FAILED %s: PE %d, line %d of kernels.cpp\n", name, shmem_my_pe(), line);
  failures += line != 0;
}

uint64_t* words(size_t n) {
  return static_cast<uint64_t*>(shmem_calloc(n, sizeof(uint64_t)));
}

void fill_source(const Memory& m, int me, int round) {
  for (int i = 0; i < kWords; ++i) m.source[i] = value_of(me, i, round);
  shmem_barrier_all();
}

uint64_t* words_with(long hints, size_t n) {
  auto* const made = static_cast<uint64_t*>(shmem_malloc_with_hints(n * sizeof(uint64_t), hints));
  std::memset(made, 0, n * sizeof(uint64_t));
  shmem_barrier_all();
  return made;
}

/// Commands of this PE's kernels so far.
uint64_t commands() {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < view.nchannels; ++i) sum += *view.channels[i].ring.head;
  return sum;
}

/// Whether kernels update the word by themselves.
bool is_direct(const uint64_t* word) {
  const auto offset = static_cast<uint64_t>(reinterpret_cast<const unsigned char*>(word) - view.heap.mine);
  return offset - view.heap.atomics_offset < view.heap.atomics_nbytes;
}

/// Memory and a context that only this node updates, words that are only set, and words without promises, all at once.
void declared_memory(int npes) {
  const auto n = static_cast<size_t>(npes) + 2;
  shmem_ctx_t context = SHMEM_CTX_INVALID;
  shmem_ctx_create(SHMEMX_CTX_NODE_ONLY, &context);
  const Declared d{words_with(SHMEMX_MALLOC_NODE_ONLY, n), words_with(SHMEMX_MALLOC_SET_ONLY, n), words(n), context};
  uint64_t* const outside = words_with(SHMEMX_MALLOC_OUTSIDE_ONLY, n);
  const bool network = view.nchannels > 0;
  check("range of declared memory", is_direct(d.node_only) && is_direct(d.set_only + n - 1) &&
                                            is_direct(d.plain) != network && is_direct(outside) != network
                                        ? 0
                                        : __LINE__);
  const uint64_t before = commands();
  check("declared memory", update_declared(view, d, false, 1));
  check("no command for it", commands() == before ? 0 : __LINE__);
  constexpr uint64_t kByHost = 20;
  for (uint64_t round = 2; round <= 3; ++round) {
    std::thread host([&] {
      for (uint64_t i = 0; i < kByHost; ++i)
        for (int pe = view.first_pe; pe < view.first_pe + view.node_npes; ++pe)
          shmem_uint64_atomic_add(d.node_only, 1, pe);
    });
    const int wrong = update_declared(view, d, true, round);
    host.join();
    check("declared memory beside other", wrong);
  }
  const auto by_host = 2 * kByHost * static_cast<uint64_t>(view.node_npes);
  check("sums of declared memory", check_declared(view, d, 3, 2, by_host));
  shmem_ctx_destroy(context);
  for (uint64_t* const memory : {d.node_only, d.set_only, d.plain, outside}) shmem_free(memory);
}

/// An update from another node of what only this one may update.
void break_promise(const char* how, int me, int npes) {
  const bool by_context = std::strcmp(how, "context_promise") == 0;
  shmem_ctx_t context = SHMEM_CTX_DEFAULT;
  if (by_context) shmem_ctx_create(SHMEMX_CTX_NODE_ONLY, &context);
  uint64_t* const word = words_with(by_context ? 0 : SHMEMX_MALLOC_NODE_ONLY, 1);
  if (std::strcmp(how, "kernel_promise") == 0)
    add_to(view, word, 1, (me + 1) % npes);
  else
    shmem_ctx_uint64_atomic_inc(context, word, (me + 1) % npes);
}

/// What must end the job, by name; the kernel's own end leaves time for that.
[[noreturn]] void end_badly(const char* how, const Memory& m, int me, int npes) {
  shmem_barrier_all();
  if (std::strcmp(how, "killed") == 0) {
    if (me == npes - 1) raise(SIGKILL);
    wait_for_ever(view, m);
  } else if (std::strstr(how, "promise") != nullptr) {
    break_promise(how, me, npes);
  } else {
    put_to(view, m, npes + 8);
  }
  sleep(20);
  std::printf("%s: PE %d was not ended\n", how, me);
  shmem_global_exit(3);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  const int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes, left = (me + npes - 1) % npes;
  const Memory m{words(kWords + 64), words(kWords + 64), words(kWords + 64), words(2 * kBlocks), words(4)};
  fill_source(m, me, 1);
  if (argc > 1) end_badly(argv[1], m, me, npes);
  check("queries", queries(view, me, npes));
  check("put and get", put_and_get(view, m, right));
  for (int round = 1; round <= 5; ++round) {
    fill_source(m, me, round);
    check("put_signal", put_signal(view, m, right, left, round));
  }
  for (int round = 0; round < 3; ++round) check("atomics of all", add_all(view, m, npes));
  check("sums", check_sums(view, m, npes, 3));
  declared_memory(npes);
  check("values in order", values_in_order(view, m, right));
  check("collectives", collectives(view, m, me, npes));
  // Made twice: the second one gets the places of the first, and must not be taken for it.
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2; ++i) m.dest[i] = 0;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_ctx_t context = SHMEM_CTX_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, nullptr, 0, &team);
    shmem_team_create_ctx(team, 0, &context);
    check("team and context", team_and_context(view, m, team, context, me, npes));
    shmem_ctx_destroy(context);
    shmem_team_destroy(team);
  }
  if (me == 0 && failures == 0) std::printf("kernels_between_pes: passed, %d PEs\n", npes);
  for (uint64_t* const memory : {m.source, m.dest, m.back, m.signals, m.sums}) shmem_free(memory);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
