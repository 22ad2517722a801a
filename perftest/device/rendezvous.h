// SPDX-License-Identifier: BSD-3-Clause
// How processes get a library's unique id from the first one: by a file that SHMEM_PERF_RENDEZVOUS names, a new name
// for each job. Any launcher that numbers processes will do, and no MPI is linked.
#pragma once

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include "perftest/harness/launcher.h"

namespace railshmem::perf::gpu::job {

/// This process, whose rank and job size are known; throws where the launcher tells neither.
inline Launched numbered() {
  const Launched process = launched();
  if (!process.rank || !process.size)
    throw std::runtime_error("SHMEM_PERF_RENDEZVOUS needs a launcher that numbers the processes, as mpirun does");
  return process;
}

/// Rank 0 writes the id, the others wait for the file, up to 60 s, and read the id.
template <class Id>
void share_id(const std::string& path, int rank, Id& id) {
  static_assert(std::is_trivially_copyable_v<Id>);
  if (rank == 0) {
    const std::string draft = path + ".draft";
    std::ofstream file(draft, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&id), sizeof id);
    file.close();
    // Renamed, so that nobody reads half of it.
    if (!file || std::rename(draft.c_str(), path.c_str()) != 0)
      throw std::runtime_error("cannot write SHMEM_PERF_RENDEZVOUS " + path);
    return;
  }
  constexpr std::chrono::seconds kPatience{60};
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(reinterpret_cast<char*>(&id), sizeof id)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw std::runtime_error("no unique id in SHMEM_PERF_RENDEZVOUS " + path + " after 60 s; did rank 0 start?");
}

}  // namespace railshmem::perf::gpu::job
