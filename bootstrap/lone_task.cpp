// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/lone_task.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "src/base/error.h"

namespace railshmem {
namespace {

/// What tells each task its number and how many there are.
struct Traces {
  const char* rank;
  const char* size;
  const char* missing;
  const char* remedy;
};
constexpr Traces kTraces[] = {
    // A step may have fewer tasks than its Slurm job, so its own number comes first.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun set neither PMIx's variables nor PMI's",
     "start it with srun --mpi=pmix (srun --mpi=list shows the kinds), or with mpirun"},
    {"SLURM_PROCID", "SLURM_NTASKS", "srun set neither PMIx's variables nor PMI's",
     "start it with srun --mpi=pmix (srun --mpi=list shows the kinds), or with mpirun"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK and PMIX_NAMESPACE are not set",
     "start it with mpirun, and pass mpirun's variables on to the program"},
    {"PMI_RANK", "PMI_SIZE", "neither PMI_FD nor PMI_PORT is set",
     "start it with MPICH's mpiexec, or with srun --mpi=pmix"},
};
constexpr const char* kRendezvous[] = {"MASTER_ADDR", "MASTER_PORT"};

int number_in(const Env::Lookup& lookup, const char* name) {
  const char* value = lookup(name);
  if (!value) return -1;
  int number = -1;
  const char* end = value + std::strlen(value);
  const auto [stop, error] = std::from_chars(value, end, number);
  return error == std::errc{} && stop == end ? number : -1;
}

std::string several(const Env::Lookup& lookup, const Traces& traces) {
  const int rank = number_in(lookup, traces.rank), size = number_in(lookup, traces.size);
  if (rank < 0 || size < 2) return {};
  return text("%s is %d and %s is %d, but %s, so this process is a job of one PE; %s", traces.rank, rank, traces.size,
              size, traces.missing, traces.remedy);
}

}  // namespace

std::string describe_lone_task(const Env::Lookup& lookup) {
  std::string missing;
  for (const char* name : kRendezvous) {
    const char* value = lookup(name);
    if (!value || !*value) missing += (missing.empty() ? "" : " and ") + std::string(name);
  }
  if (!missing.empty()) {
    missing += missing.find(' ') == std::string::npos ? " is not set" : " are not set";
    const Traces rendezvous{
        "RANK", "WORLD_SIZE", missing.c_str(),
        "start it with torchrun, or set MASTER_ADDR to the host of RANK 0 and MASTER_PORT to a free "
        "port there, alike for all"};
    const std::string found = several(lookup, rendezvous);
    if (!found.empty()) return found;
  }
  const bool lone_step = number_in(lookup, "SLURM_STEP_NUM_TASKS") == 1;  // of a larger job of Slurm's
  for (const Traces& traces : kTraces) {
    if (lone_step && std::string_view(traces.rank).starts_with("SLURM_")) continue;
    const std::string found = several(lookup, traces);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace railshmem
