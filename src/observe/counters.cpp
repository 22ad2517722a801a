// SPDX-License-Identifier: BSD-3-Clause
#include "src/observe/counters.h"

#include <algorithm>

namespace railshmem::observe {

void Sum::add(const Sum& other) noexcept {
  calls += other.calls;
  nbytes += other.nbytes;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  ticks += other.ticks;
}

void Totals::add(const Totals& other) noexcept {
  for (size_t kind = 0; kind < kKinds; ++kind)
    for (size_t way = 0; way < kWays; ++way) calls[kind][way].add(other.calls[kind][way]);
  for (size_t i = 0; i < kEngineSums; ++i) engine[i] += other.engine[i];
}

Totals Counters::totals() const noexcept {
  Totals out;
  // relaxed: see Counters.
  const auto value = [](const Number& number) { return number.load(std::memory_order_relaxed); };
  for (size_t kind = 0; kind < kKinds; ++kind)
    for (size_t way = 0; way < kWays; ++way) {
      const Cell& cell = cells_[kind][way];
      out.calls[kind][way] = {value(cell.calls), value(cell.nbytes), value(cell.min), value(cell.max),
                              value(cell.ticks)};
    }
  for (size_t i = 0; i < kEngineSums; ++i) out.engine[i] = value(engine_[i]);
  return out;
}

}  // namespace railshmem::observe
