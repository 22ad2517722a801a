// SPDX-License-Identifier: BSD-3-Clause
// Stream-ordered calls between PEs, given to a stream and, where the driver captures, replayed from a graph with other
// data each time. Arrays are read and written by puts and gets of the host to itself.
#include <shmem.h>
#include <shmemx.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "tests/gpu/multi_gpu/stream_check.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::StreamDriver;

constexpr uint64_t kSet = 7, kAdd = 3;

int me = 0, npes = 0, failures = 0;

int value_of(int pe, size_t i, int round) {
  return pe * 1009 + static_cast<int>(i % 977) + round * 31;
}

/// Symmetric arrays of `n` elements a PE.
struct Arrays {
  explicit Arrays(size_t count) : n(count) {
    const size_t all = n * static_cast<size_t>(npes);
    for (int** const array : {&source, &put, &signalled, &got, &spread, &all_to_all, &joined, &sum, &largest})
      *array = static_cast<int*>(shmem_calloc(all, sizeof(int)));
    words = static_cast<uint64_t*>(shmem_calloc(3, sizeof(uint64_t)));
  }
  ~Arrays() {
    for (int* const array : {source, put, signalled, got, spread, all_to_all, joined, sum, largest}) shmem_free(array);
    shmem_free(words);
  }
  Arrays(const Arrays&) = delete;

  const size_t n;
  int *source, *put, *signalled, *got, *spread, *all_to_all, *joined, *sum, *largest;
  uint64_t* words;  ///< set by a put_signal, added to, stored
};

/// Everything that one round does. The words are zero again behind it, for the next replay.
void give(const Arrays& a, shmemx_stream_t stream) {
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  shmemx_int_put_on_stream(a.put, a.source, a.n, right, stream);
  shmemx_int_get_on_stream(a.got, a.source, a.n, right, stream);
  shmemx_int_put_signal_on_stream(a.signalled, a.source, a.n, &a.words[0], kSet, SHMEM_SIGNAL_SET, right, stream);
  shmemx_signal_wait_until_on_stream(&a.words[0], SHMEM_CMP_EQ, kSet, stream);
  shmemx_signal_op_on_stream(&a.words[1], kAdd, SHMEM_SIGNAL_ADD, left, stream);
  shmemx_uint64_wait_until_on_stream(&a.words[1], SHMEM_CMP_GE, kAdd, stream);
  shmemx_uint64_p_on_stream(&a.words[2], 11, left, stream);
  shmemx_uint64_wait_until_on_stream(&a.words[2], SHMEM_CMP_EQ, 11, stream);
  shmemx_quiet_on_stream(stream);
  shmemx_barrier_all_on_stream(stream);
  for (int i = 0; i < 3; ++i) shmemx_uint64_p_on_stream(&a.words[i], 0, me, stream);
  shmemx_barrier_all_on_stream(stream);
  shmemx_int_broadcast_on_stream(SHMEM_TEAM_WORLD, a.spread, a.source, a.n, npes - 1, stream);
  shmemx_int_fcollect_on_stream(SHMEM_TEAM_WORLD, a.joined, a.source, a.n, stream);
  shmemx_int_alltoall_on_stream(SHMEM_TEAM_WORLD, a.all_to_all, a.source, a.n, stream);
  shmemx_int_sum_reduce_on_stream(SHMEM_TEAM_WORLD, a.sum, a.source, a.n, stream);
  shmemx_int_max_reduce_on_stream(SHMEM_TEAM_WORLD, a.largest, a.source, a.n, stream);
  shmemx_team_sync_on_stream(SHMEM_TEAM_WORLD, stream);
}

void check(const char* name, const int* array, const std::vector<int>& right) {
  if (!railshmem::multi::holds(name, array, right)) ++failures;
}

/// `n` elements of a PE's source from `first` on.
std::vector<int> part(int pe, size_t first, size_t n, int round) {
  std::vector<int> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = value_of(pe, first + i, round);
  return values;
}

void check_all(const Arrays& a, int round) {
  const int right = (me + 1) % npes, left = (me + npes - 1) % npes;
  check("put", a.put, part(left, 0, a.n, round));
  check("get", a.got, part(right, 0, a.n, round));
  check("put_signal", a.signalled, part(left, 0, a.n, round));
  check("broadcast", a.spread, part(npes - 1, 0, a.n, round));
  std::vector<int> joined, all_to_all, sum(a.n, 0), largest(a.n, 0);
  for (int pe = 0; pe < npes; ++pe) {
    const std::vector<int> whole = part(pe, 0, a.n, round);
    const std::vector<int> mine = part(pe, static_cast<size_t>(me) * a.n, a.n, round);
    joined.insert(joined.end(), whole.begin(), whole.end());
    all_to_all.insert(all_to_all.end(), mine.begin(), mine.end());
    for (size_t i = 0; i < a.n; ++i) {
      sum[i] += whole[i];
      largest[i] = std::max(largest[i], whole[i]);
    }
  }
  check("fcollect", a.joined, joined);
  check("alltoall", a.all_to_all, all_to_all);
  check("sum_reduce", a.sum, sum);
  check("max_reduce", a.largest, largest);
}

/// New data, `play()` on the stream, comparison. Collective.
template <class Play>
void round_of(const char* how, const Arrays& a, StreamDriver& driver, int round, Play&& play) {
  const std::vector<int> mine = part(me, 0, a.n * static_cast<size_t>(npes), round);
  shmem_putmem(a.source, mine.data(), mine.size() * sizeof(int), me);
  shmem_barrier_all();
  const int before = failures;
  play();
  driver.synchronize();
  check_all(a, round);
  shmem_barrier_all();
  if (failures != before || me == 0)
    std::printf("%s %s, %zu elements, round %d: PE %d\n", failures == before ? "ok    " : "FAILED", how, a.n, round,
                me);
  std::fflush(stdout);
}

}  // namespace

int main() {
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  if (shmemx_attach_device() != 0) shmem_global_exit(2);
  {
    StreamDriver driver;
    const bool one_node = shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes;  // reductions over the network take long
    std::vector<size_t> sizes = {16, 3000};                             // for packets, and for one block
    if (one_node)
      sizes.insert(sizes.end(),
                   {200'000, 1'100'000});  // for a cluster of blocks, and for copy engines or the whole GPU
    else
      sizes.push_back(20'000);
    for (const size_t n : sizes) {
      const Arrays a(n);
      int round = 1;
      for (; round <= 2; ++round) round_of("stream", a, driver, round, [&] { give(a, driver.stream); });
      if (!driver.graphs()) continue;
      void* const graph = driver.capture([&] { give(a, driver.stream); });
      for (; round <= 5; ++round) round_of("graph", a, driver, round, [&] { driver.launch(graph); });
    }
  }
  if (me == 0) std::printf("%s stream-ordered calls, %d PEs\n", failures == 0 ? "ok    " : "FAILED", npes);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
