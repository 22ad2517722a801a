// SPDX-License-Identifier: BSD-3-Clause
// Counters of one thread, which nobody else writes, and their sums over the threads of a PE.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "src/observe/kind.h"

namespace railshmem::observe {

/// Calls of one kind that went one way.
struct Sum {
  uint64_t calls = 0;
  uint64_t nbytes = 0;
  uint64_t min = UINT64_MAX;
  uint64_t max = 0;
  uint64_t ticks = 0;

  void add(const Sum& other) noexcept;
};

/// A plain struct: PEs exchange it at finalize. Ticks are nanoseconds by then.
struct Totals {
  Sum calls[kKinds][kWays];
  uint64_t engine[kEngineSums] = {};

  void add(const Totals& other) noexcept;
};
static_assert(std::is_trivially_copyable_v<Totals>);

/// Written by its own thread only, so a relaxed load and store is an increment; read by the thread that finalizes.
class Counters {
 public:
  void count(Kind kind, Way way, uint64_t nbytes, uint64_t ticks) noexcept {
    Cell& cell = cells_[static_cast<size_t>(kind)][static_cast<size_t>(way)];
    raise(cell.calls, 1);
    raise(cell.ticks, ticks);
    raise(cell.nbytes, nbytes);
    if (nbytes < cell.min.load(std::memory_order_relaxed)) cell.min.store(nbytes, std::memory_order_relaxed);
    if (nbytes > cell.max.load(std::memory_order_relaxed)) cell.max.store(nbytes, std::memory_order_relaxed);
  }
  void count(Engine what, uint64_t by) noexcept { raise(engine_[static_cast<size_t>(what)], by); }

  Totals totals() const noexcept;

 private:
  using Number = std::atomic<uint64_t>;
  struct Cell {
    Number calls{0};
    Number nbytes{0};
    Number min{UINT64_MAX};
    Number max{0};
    Number ticks{0};
  };
  /// relaxed: one writer; a reader wants the number, not what happened before it.
  static void raise(Number& number, uint64_t by) noexcept {
    number.store(number.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<std::array<Cell, kWays>, kKinds> cells_;
  std::array<Number, kEngineSums> engine_{};
};

}  // namespace railshmem::observe
