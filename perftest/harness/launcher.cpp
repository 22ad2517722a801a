// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/launcher.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace railshmem::perf {
namespace {

std::optional<int> first_number(const Lookup& lookup, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* const text = lookup(name);
    if (text == nullptr) continue;
    int value = 0;
    const char* const end = text + strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error == std::errc() && stop == end && value >= 0) return value;
  }
  return std::nullopt;
}

}  // namespace

Launched launched(const Lookup& lookup) {
  return {first_number(lookup, {"RAILSHMEM_LAUNCHER_PE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                "SLURM_PROCID", "RANK"}),
          first_number(lookup,
                       {"RAILSHMEM_LAUNCHER_NPES", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "WORLD_SIZE"}),
          first_number(lookup, {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "LOCAL_RANK"})};
}

Launched launched() {
  return launched([](const char* name) { return static_cast<const char*>(std::getenv(name)); });
}

bool is_first_process() {
  return launched().rank.value_or(0) == 0;
}

}  // namespace railshmem::perf
