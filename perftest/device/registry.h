// SPDX-License-Identifier: BSD-3-Clause
// The table of benches; each registers itself where it is defined.
#pragma once

#include <string_view>
#include <vector>

#include "perftest/device/options.h"

namespace railshmem::perf::gpu {

class Context;

/// Which PEs take part; the other PEs wait in host barriers.
enum class Part : uint8_t {
  one_sided,  ///< PE 0 acts on its peer; alone in the job, on itself
  two_sided,  ///< PE 0 and its peer, which must be another one
  all,        ///< every PE
};

struct Bench {
  const char* name;
  const char* help;
  Part part;
  Range sizes;
  std::vector<Scope> scopes;  ///< what it runs without --scope
  bool scoped;                ///< whether --scope chooses the scope
  void (*run)(Context&);
};

/// A namespace-scope object of this type adds a bench.
struct Register {
  explicit Register(const Bench& bench);
};

/// Null if none has that name.
const Bench* find_bench(std::string_view name);
/// The text of --list: benches by name, then the floors.
std::string list_benches();

}  // namespace railshmem::perf::gpu
