// SPDX-License-Identifier: BSD-3-Clause
// What one context still waits for, and what its session hopes for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/proxy/post/operation.h"

namespace railshmem {

/// A number that only the holder of the endpoint changes, and that a thread of the context may read meanwhile.
template <class N>
class Counter {
 public:
  // acquire: pairs with the release below. Who sees 0 sees the data of the gets that were counted.
  operator N() const noexcept { return value_.load(std::memory_order_acquire); }
  void operator=(N value) noexcept { value_.store(value, std::memory_order_release); }
  // Not one atomic step, because there is one writer at a time.
  void operator++() noexcept { *this = value_.load(std::memory_order_relaxed) + 1; }
  void operator--() noexcept { *this = value_.load(std::memory_order_relaxed) - 1; }

 private:
  std::atomic<N> value_{0};
};

/// Hints of a session (OpenSHMEM 1.6 section 9.9). Held by the endpoint, as everything below but the counters.
struct Session {
  bool batches = false;        ///< small puts may wait for each other
  size_t ops_left = SIZE_MAX;  ///< announced and not yet issued
};

class NetContext;

/// Keeps a quiet from waiting forever while other threads go on posting on its context. Not from the start: threads
/// that share a context would pay for each other's every quiet.
class Drain {
 public:
  explicit Drain(NetContext& context) noexcept : context_(context) {}
  inline ~Drain();
  Drain(const Drain&) = delete;
  /// Once per turn of the wait.
  inline void turn() noexcept;

 private:
  static constexpr uint32_t kPatience = 1024;  // turns; some 100 us, longer than most quiets take
  NetContext& context_;
  uint32_t turns_ = 0;
};

/// Operations of one context towards one PE that are posted but not complete. 16 bytes, so 64 KiB for a context of a
/// job of 4096 PEs.
struct PeerCounts {
  Counter<uint32_t> writes;    ///< puts whose data is not yet known to be in the target's memory
  Counter<uint32_t> reads;     ///< gets whose data is not here
  Counter<uint32_t> messages;  ///< AMOs, signals and put_signals that the target has not answered
  uint32_t epoch = 0;          ///< the fence that what is pending here comes after

  uint32_t pending() const noexcept { return writes + reads + messages; }
  uint32_t ordered() const noexcept { return writes + messages; }
  Counter<uint32_t>& of(OpKind kind) noexcept {
    return kind == OpKind::put ? writes : kind == OpKind::get || kind == OpKind::staged_get ? reads : messages;
  }
};

/// Counts, changed by whoever holds the endpoint (PortLock for the host's, the proxy lock for the proxy's).
class NetContext {
 public:
  NetContext(uint16_t index, int npes)
      : id(index), npes_(npes), peers_(std::make_unique<PeerCounts[]>(static_cast<size_t>(npes))) {}
  NetContext(const NetContext&) = delete;  // its address is the caller's handle

  uint64_t pending() const noexcept { return pending_; }
  PeerCounts& peer(int pe) noexcept { return peers_[static_cast<size_t>(pe)]; }
  void opened(const Operation& what) noexcept {
    ++pending_;
    ++peer(what.pe).of(what.kind);
  }
  void closed(const Operation& what) noexcept {
    --peer(what.pe).of(what.kind);
    --pending_;
  }
  void clear() noexcept {
    for (int pe = 0; pe < npes_; ++pe)
      for (Counter<uint32_t>* counter : {&peer(pe).writes, &peer(pe).reads, &peer(pe).messages}) *counter = 0;
    pending_ = 0;
  }

  const uint16_t id;
  /// Number of fences called. Operations after a fence wait, per PE, for those before it (see PeerCounts::epoch).
  uint32_t fences = 0;
  /// Threads whose quiet has waited for long: others post nothing here until it has ended. relaxed: seen soon is
  /// enough, and what it holds back is ordered by the endpoint.
  std::atomic<uint32_t> draining{0};
  Session session;

 private:
  const int npes_;
  Counter<uint64_t> pending_;
  const std::unique_ptr<PeerCounts[]> peers_;
};

Drain::~Drain() {
  if (turns_ >= kPatience) context_.draining.fetch_sub(1, std::memory_order_relaxed);
}
void Drain::turn() noexcept {
  if (turns_ < kPatience && ++turns_ == kPatience) context_.draining.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace railshmem
