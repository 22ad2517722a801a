// SPDX-License-Identifier: BSD-3-Clause
// The network between PEs that are threads: one cable per PE and rail, to a switch that joins all. Rail r of one PE
// talks to rail r of another.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/plugin/rail.h"

namespace railshmem::test {

/// One endpoint, as it is found by others. It is another one after each opening.
struct CableEnd {
  std::mutex mutex;  ///< held by whoever delivers here, and while it is opened anew
  uint32_t generation = 0;
};

class Cables {
 public:
  Cables(int npes, size_t rails)
      : rails_(rails),
        pulled_(static_cast<size_t>(npes) * rails),
        ends_(std::make_unique<CableEnd[]>(2 * static_cast<size_t>(npes) * rails)) {}

  size_t rails() const noexcept { return rails_; }
  void pull(int pe, size_t r) noexcept { pulled_[index(pe, r)].store(true, std::memory_order_seq_cst); }
  void plug(int pe, size_t r) noexcept { pulled_[index(pe, r)].store(false, std::memory_order_seq_cst); }
  bool is_pulled(int pe, size_t r) const noexcept { return pulled_[index(pe, r)].load(std::memory_order_seq_cst); }
  bool joined(int a, int b, size_t r) const noexcept { return a == b || (!is_pulled(a, r) && !is_pulled(b, r)); }

  CableEnd& end(Endpoint of, size_t r) noexcept { return ends_[2 * index(of.pe, r) + static_cast<size_t>(of.port)]; }

 private:
  size_t index(int pe, size_t r) const noexcept { return static_cast<size_t>(pe) * rails_ + r; }

  const size_t rails_;
  std::vector<std::atomic<bool>> pulled_;
  std::unique_ptr<CableEnd[]> ends_;
};

}  // namespace railshmem::test
