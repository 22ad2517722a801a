// SPDX-License-Identifier: BSD-3-Clause
// The table of benches; each registers itself where it is defined.
#pragma once

#include <string_view>
#include <vector>

#include "perftest/harness/options.h"

namespace railshmem::perf {

class Context;

enum class Place : uint8_t {
  pairs,  ///< PE i with PE i + N/2
  all,    ///< every PE takes part
  floor,  ///< PE 0 alone, with a helper process it starts; the other PEs sleep
};

/// The row of a floor that a bench is compared with; bench null = none.
struct FloorOf {
  const char* bench = nullptr;
  const char* metric = nullptr;
};

/// Whether a bench starts threads that call the library, which must lock for them then.
enum class Threads : bool { no, yes };

struct Bench {
  const char* name;
  const char* help;
  Place place;
  Range sizes;
  void (*run)(Context&);
  FloorOf load_store{};  ///< where PEs share memory
  FloorOf network{};     ///< where they reach each other through libfabric
  Threads threads = Threads::no;
};

/// A namespace-scope object of this type adds a bench: `const Register put_bw({...});`
struct Register {
  explicit Register(const Bench& bench);
};

/// All benches: those of the library by name, then the floors by name.
const std::vector<Bench>& benches();
/// Returns null when there is no bench of that name.
const Bench* find_bench(std::string_view name);
/// The text of --list.
std::string list_benches();

}  // namespace railshmem::perf
