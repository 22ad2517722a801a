// SPDX-License-Identifier: BSD-3-Clause
// What a launcher's variables tell of this process, before the library starts.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace railshmem::perf {

/// The value of an environment variable, null when it is not set.
using Lookup = std::function<const char*(const char*)>;

struct Launched {
  std::optional<int> rank;
  std::optional<int> size;
  std::optional<int> local_rank;  ///< among the processes of this host
};

/// Understands Open MPI, PMIx, PMI, Slurm, oshrun and torchrun. A value that is not a number counts as absent.
Launched launched(const Lookup& lookup);
Launched launched();

/// Whether this process is the one that prints. Without a launcher every process is.
bool is_first_process();

}  // namespace railshmem::perf
