// SPDX-License-Identifier: BSD-3-Clause
// What one context still waits for, and what its session hopes for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace railshmem {

/// A number that whoever holds the endpoint changes, and that a thread of the context reads while another holds it.
class Counter {
 public:
  // acquire: pairs with the release below. Who sees 0 sees the data of the gets that were counted.
  operator uint64_t() const noexcept { return value_.load(std::memory_order_acquire); }
  void operator=(uint64_t value) noexcept { value_.store(value, std::memory_order_release); }
  // Not one atomic step, because there is one writer at a time.
  void operator+=(uint64_t n) noexcept { *this = value_.load(std::memory_order_relaxed) + n; }
  void operator-=(uint64_t n) noexcept { *this = value_.load(std::memory_order_relaxed) - n; }
  void operator++() noexcept { *this += 1; }
  void operator--() noexcept { *this -= 1; }

 private:
  std::atomic<uint64_t> value_{0};
};

/// Hints of a session (OpenSHMEM 1.6 section 9.9). Held by the endpoint, as everything below but the counters.
struct Session {
  bool batches = false;        ///< small puts may wait for each other
  size_t ops_left = SIZE_MAX;  ///< announced and not yet issued
};

class NetContext;

/// Keeps a quiet from waiting for ever while other threads go on posting on its context. Not from the start: threads
/// that share a context would pay for each other's every quiet.
class Drain {
 public:
  explicit Drain(NetContext& scope) noexcept : scope_(scope) {}
  inline ~Drain();
  Drain(const Drain&) = delete;
  /// Once per turn of the wait.
  inline void turn() noexcept;

 private:
  static constexpr uint32_t kPatience = 1024;  // turns; some 100 us, longer than most quiets take
  NetContext& scope_;
  uint32_t turns_ = 0;
};

/// Counts of operations that are posted but not complete, changed by whoever holds the endpoint (PortLock for the
/// host's, the proxy lock for the proxy's).
class NetContext {
 public:
  explicit NetContext(uint16_t id_on_wire) noexcept : id(id_on_wire) {}
  NetContext(const NetContext&) = delete;  // its address is the caller's handle

  uint64_t pending() const noexcept { return writes + reads + messages; }
  void clear() noexcept {
    writes = 0;
    reads = 0;
    messages = 0;
  }

  const uint16_t id;
  Counter writes;    ///< puts whose data is not yet known to be in the target's memory
  Counter reads;     ///< gets whose data is not here
  Counter messages;  ///< AMOs, signals and put_signals that the target has not answered
  /// A fence was called while writes were pending: the next write waits for them, the next message need not.
  bool fence_before_write = false;
  /// Threads whose quiet or fence has waited for long: others post nothing here until it has ended. relaxed: seen soon
  /// is enough, and what it holds back is ordered by the endpoint.
  std::atomic<uint32_t> draining{0};
  Session session;
};

Drain::~Drain() {
  if (turns_ >= kPatience) scope_.draining.fetch_sub(1, std::memory_order_relaxed);
}
void Drain::turn() noexcept {
  if (turns_ < kPatience && ++turns_ == kPatience) scope_.draining.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace railshmem
