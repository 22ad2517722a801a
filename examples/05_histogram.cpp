// SPDX-License-Identifier: BSD-3-Clause
//
// Histogram: the bins are spread over all PEs, and every PE counts its own samples straight into them by atomics.
#include <shmem.h>

#include <cstdio>
#include <random>
#include <vector>

constexpr int kBinsPerPe = 64;
constexpr int kSamples = 20000;  // per PE

static long bins[kBinsPerPe];  // bins me * kBinsPerPe ... of the whole histogram
static long total;             // on PE 0: what all bins hold together

int main() {
  shmem_init();
  const int me = shmem_my_pe();
  const int npes = shmem_n_pes();
  const int nbins = kBinsPerPe * npes;

  std::mt19937 random(static_cast<unsigned>(me + 1));
  std::vector<long> expected(static_cast<size_t>(nbins));  // what this PE adds to each bin
  for (int i = 0; i < kSamples; ++i) {
    const int bin = static_cast<int>(random() % static_cast<unsigned>(nbins));
    ++expected[static_cast<size_t>(bin)];
    shmem_long_atomic_inc(&bins[bin % kBinsPerPe], bin / kBinsPerPe);  // nothing is fetched, so nothing is waited for
  }
  shmem_barrier_all();  // all increments are in

  // No sample lost: each PE adds up its bins for PE 0, and no bin holds less than this PE put there.
  long mine = 0;
  for (const long count : bins) mine += count;
  shmem_long_atomic_add(&total, mine, 0);
  bool ok = true;
  for (int bin = 0; bin < nbins; ++bin)
    ok = ok && shmem_long_g(&bins[bin % kBinsPerPe], bin / kBinsPerPe) >= expected[static_cast<size_t>(bin)];
  shmem_barrier_all();

  if (me == 0) {
    const long want = static_cast<long>(kSamples) * npes;
    ok = ok && total == want;
    std::printf("histogram: %d bins on %d PEs hold %ld samples, expected %ld: %s\n", nbins, npes, total, want,
                ok ? "passed" : "FAILED");
  }
  shmem_finalize();
  return ok ? 0 : 1;
}
