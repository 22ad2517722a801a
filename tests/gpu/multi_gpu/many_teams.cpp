// SPDX-License-Identifier: BSD-3-Clause
// Reductions in the order of streams on many teams at once, and again when some teams have gone: averages, which
// between nodes need memory of the library for each team.
#include <shmem.h>
#include <shmemx.h>

#include <array>
#include <cstdio>
#include <vector>

#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::StreamDriver;

constexpr size_t kTeams = 14, kElements = 700;

int me = 0, npes = 0, failures = 0;

/// The average of what each PE has: team and round tell the results apart.
void average(shmem_team_t team, size_t number, int round, float* source, float* dest, const StreamDriver& driver) {
  std::vector<float> values(kElements);
  const auto value = [&](int pe, size_t i) {
    return static_cast<float>(pe + 1) * 8 + static_cast<float>(i % 31) + static_cast<float>(number * 64) +
           static_cast<float>(round);
  };
  for (size_t i = 0; i < kElements; ++i) values[i] = value(me, i);
  shmem_float_put(source, values.data(), kElements, me);
  shmem_quiet();
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  coll.collective = SHMEMX_COLL_ALLREDUCE;
  coll.datatype = SHMEMX_DATATYPE_FLOAT;
  coll.op = SHMEMX_OP_AVG;
  coll.team = team;
  coll.nelems = kElements;
  coll.source = source;
  coll.dest = dest;
  bool well = shmemx_coll_on_stream(&coll, driver.stream) == 0;
  driver.synchronize();
  shmem_float_get(values.data(), dest, kElements, me);
  for (size_t i = 0; i < kElements; ++i) {
    float sum = 0;
    for (int pe = 0; pe < npes; ++pe) sum += value(pe, i);
    well &= values[i] == sum / static_cast<float>(npes);
  }
  if (well) return;
  std::printf("FAILED: PE %d: team %zu, round %d: %g at 0\n", me, number, round, static_cast<double>(values[0]));
  ++failures;
}

}  // namespace

int main() {
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const StreamDriver driver;
    auto* const source = static_cast<float*>(shmem_malloc(kElements * sizeof(float)));
    auto* const dest = static_cast<float*>(shmem_malloc(kElements * sizeof(float)));
    std::array<shmem_team_t, kTeams> teams{};
    const auto make = [&](size_t i) { shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, nullptr, 0, &teams[i]); };
    for (size_t i = 0; i < kTeams; ++i) make(i);
    for (size_t i = 0; i < kTeams; ++i) average(teams[i], i, 0, source, dest, driver);
    shmem_barrier_all();
    for (size_t i = 0; i < kTeams; i += 3) {
      shmem_team_destroy(teams[i]);
      make(i);
    }
    for (size_t i = 0; i < kTeams; ++i) average(teams[i], i, 1, source, dest, driver);
    shmem_barrier_all();
    for (const shmem_team_t team : teams) shmem_team_destroy(team);
    shmem_free(dest);
    shmem_free(source);
  }
  if (me == 0 && failures == 0) std::printf("ok\n");
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
