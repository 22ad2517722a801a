// SPDX-License-Identifier: BSD-3-Clause
// What every bootstrap must do. All PEs call check_bootstrap(); it throws Error naming what is wrong.
#pragma once

#include <unistd.h>

#include <atomic>
#include <thread>

#include "src/base/error.h"
#include "src/plugin/bootstrap.h"

namespace railshmem::tests {

/// The byte that PE `pe` gives at `position` of round `round`.
inline std::byte pattern(int pe, size_t position, size_t round) {
  return static_cast<std::byte>((static_cast<size_t>(pe) * 131 + position * 7 + position / 251 + round * 29) & 255);
}

inline void check_allgather(Bootstrap& bootstrap, size_t nbytes, size_t round) {
  const auto npes = static_cast<size_t>(bootstrap.npes());
  std::vector<std::byte> mine(nbytes), all(nbytes * npes);
  for (size_t i = 0; i < nbytes; ++i) mine[i] = pattern(bootstrap.pe(), i, round);
  bootstrap.allgather(mine, all);
  for (size_t pe = 0; pe < npes; ++pe)
    for (size_t i = 0; i < nbytes; ++i)
      if (all[pe * nbytes + i] != pattern(static_cast<int>(pe), i, round))
        throw Error(text("PE %d: wrong byte %zu of PE %zu in an exchange of %zu bytes", bootstrap.pe(), i, pe, nbytes));
}

/// With "watched", another thread asks failure() all the time, as a progress thread does. "small" leaves out tests that
/// are slow where exchanges pile up (PMIx).
inline void check_bootstrap(Bootstrap& bootstrap, const std::string& mode) {
  if (bootstrap.pe() < 0 || bootstrap.pe() >= bootstrap.npes())
    throw Error(text("PE %d of %d", bootstrap.pe(), bootstrap.npes()));
  std::atomic<int> failures{0};
  std::jthread watcher;
  if (mode == "watched")
    watcher = std::jthread([&](std::stop_token stop) {
      for (; !stop.stop_requested(); usleep(200)) failures += bootstrap.failure() ? 1 : 0;
    });
  // The largest only in small jobs: 64 PEs would move gigabytes.
  const size_t largest = mode == "small" || bootstrap.npes() > 8 ? 1 << 14 : 1 << 20;
  size_t round = 0;
  for (const size_t nbytes :
       {size_t{1}, size_t{0}, size_t{8}, size_t{767}, size_t{4096}, size_t{65537}, largest, size_t{3}}) {
    if (nbytes <= largest) check_allgather(bootstrap, nbytes, round++);
    bootstrap.barrier();
  }
  for (int i = 0; i < 50; ++i) check_allgather(bootstrap, sizeof(uint64_t), round++);
  const auto blob = std::vector<std::byte>(static_cast<size_t>(bootstrap.pe()) * 3, std::byte{42});
  const auto blobs = exchange_bytes(bootstrap, blob);
  for (size_t pe = 0; pe < blobs.size(); ++pe)
    if (blobs[pe].size() != pe * 3) throw Error(text("blob of PE %zu has %zu bytes", pe, blobs[pe].size()));
  bootstrap.barrier();
  watcher = {};
  if (failures != 0) throw Error("a failure was reported although nobody died");
}

}  // namespace railshmem::tests
