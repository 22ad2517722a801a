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

/// One endpoint, as its peers find it. Each opening makes another endpoint of it.
struct CableEnd {
  std::mutex mutex;  ///< held by the thread that delivers here, and while the endpoint is opened anew
  uint32_t generation = 0;
};

class Cables {
 public:
  Cables(int npes, size_t rails)
      : rails_(rails),
        npes_(static_cast<size_t>(npes)),
        pulled_(npes_ * rails),
        writes_(npes_ * npes_ * rails),
        ends_(std::make_unique<CableEnd[]>(kPorts * npes_ * rails)) {}

  size_t rails() const noexcept { return rails_; }
  void pull(int pe, size_t r) noexcept { pulled_[index(pe, r)].store(true, std::memory_order_seq_cst); }
  void plug(int pe, size_t r) noexcept { pulled_[index(pe, r)].store(false, std::memory_order_seq_cst); }
  bool is_pulled(int pe, size_t r) const noexcept { return pulled_[index(pe, r)].load(std::memory_order_seq_cst); }
  bool joined(int a, int b, size_t r) const noexcept { return a == b || (!is_pulled(a, r) && !is_pulled(b, r)); }

  /// Number of writes of `from` that have arrived at `to` over rail `r`: tells whether the rail is used.
  uint64_t writes(int from, int to, size_t r) const noexcept {
    return writes_[pair(from, to, r)].load(std::memory_order_relaxed);
  }
  void count_write(int from, int to, size_t r) noexcept {
    writes_[pair(from, to, r)].fetch_add(1, std::memory_order_relaxed);
  }

  CableEnd& end(Endpoint of, size_t r) noexcept {
    return ends_[kPorts * index(of.pe, r) + static_cast<size_t>(of.port)];
  }

 private:
  static constexpr size_t kPorts = ports_with(kMaxProxyThreads);

  size_t index(int pe, size_t r) const noexcept { return static_cast<size_t>(pe) * rails_ + r; }
  size_t pair(int from, int to, size_t r) const noexcept { return index(from, r) * npes_ + static_cast<size_t>(to); }

  const size_t rails_;
  const size_t npes_;
  std::vector<std::atomic<bool>> pulled_;
  std::vector<std::atomic<uint64_t>> writes_;  ///< relaxed: statistics
  std::unique_ptr<CableEnd[]> ends_;
};

}  // namespace railshmem::test
