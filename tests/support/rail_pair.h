// SPDX-License-Identifier: BSD-3-Clause
// Two PEs of one fabric in one process: the test's thread is PE 0, a thread of the pair keeps PE 1 alive.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "src/base/cpu.h"
#include "src/plugin/rail.h"
#include "tests/support/patience.h"

namespace railshmem::testing_support {

/// Page-aligned memory, as segments have.
class Pages {
 public:
  explicit Pages(size_t nbytes)
      : bytes_(static_cast<std::byte*>(
                   mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)),
               nbytes) {
    if (bytes_.data() == MAP_FAILED) throw std::runtime_error("mmap failed");
  }
  Pages(const Pages&) = delete;
  ~Pages() { munmap(bytes_.data(), bytes_.size()); }
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  std::byte* data() const noexcept { return bytes_.data(); }

 private:
  std::span<std::byte> bytes_;
};

inline constexpr size_t kHeapBytes = size_t{9} << 20;
using test::kPatience;

/// Calls `done` until it is true; throws when that takes longer than kPatience.
template <class Done>
void wait_for(const char* what, Done&& done) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(std::string("no end of ") + what);
    std::this_thread::yield();  // to the peer's thread: several of these tests run at a time
  }
}

template <class F>
class RailPair {
 public:
  using R = typename F::RailType;
  using OnMessage = std::function<void(R& rail, Port port, const RailEvent& event)>;

  /// `make(pe)` gives each PE's fabric; it may throw when the technology is missing.
  template <class Make>
  explicit RailPair(Make&& make) : heap_{Pages(kHeapBytes), Pages(kHeapBytes)} {
    std::vector<std::vector<std::byte>> descriptors;
    for (int pe = 0; pe < 2; ++pe) fabric_[pe] = make(pe);
    for (int pe = 0; pe < 2; ++pe) {
      const Segment segments[] = {{SegmentId::heap, heap_[pe].data(), kHeapBytes}, {SegmentId::data, nullptr, 0}};
      descriptors.push_back(fabric_[pe]->attach(segments));
    }
    for (auto& fabric : fabric_) fabric->connect(descriptors);
  }
  ~RailPair() { stop(); }

  R& host(int pe) { return fabric_[pe]->rails(Port::host).front(); }
  R& proxy(int pe) { return fabric_[pe]->rails(Port::proxy).front(); }
  R& rail(int pe, Port port) { return port == Port::host ? host(pe) : proxy(pe); }
  F& fabric(int pe) { return *fabric_[pe]; }
  std::byte* heap(int pe) { return heap_[pe].data(); }

  /// Starts PE 1's thread; on it `message` runs for every message that PE 1 receives, and `work` after every poll:
  /// the place for posts, because a refused one must let this thread poll before the next try.
  void start(OnMessage message = {}, std::function<void()> work = {}) {
    peer_ = std::jthread([this, message, work](std::stop_token stop) {
      while (!stop.stop_requested()) {
        const bool something = serve(1, Port::proxy, message) | serve(1, Port::host, message);
        if (work) work();
        if (!something) std::this_thread::yield();
      }
    });
  }
  void stop() {
    if (!peer_.joinable()) return;
    peer_.request_stop();
    peer_.join();
  }

  /// Polls one rail of a PE once; counts completions and failures, hands messages out. True when something happened.
  bool serve(int pe, Port port, const OnMessage& message = {}) {
    RailEvent events[8];
    R& r = rail(pe, port);
    const size_t n = r.poll(events);
    for (const RailEvent& event : std::span(events, n)) {
      if (event.kind == RailEvent::Kind::message) {
        if (message) message(r, port, event);
        r.release(event);
      } else {
        (event.kind == RailEvent::Kind::completed ? completed : failed)[pe].fetch_add(1, std::memory_order_relaxed);
        if (event.error != 0) last_error = event.error;
      }
    }
    return n != 0;
  }
  void serve_mine(const OnMessage& message = {}) {
    serve(0, Port::proxy, message);
    serve(0, Port::host, message);
  }

  /// Posts until accepted, as the engine does: poll between two tries. Only for PE 0's rails.
  template <class Try>
  void post(Try&& attempt, const OnMessage& message = {}) {
    wait_for("refused posts", [&] {
      const Post answer = attempt();
      if (answer == Post::failed) throw std::runtime_error("post failed");
      serve_mine(message);
      return answer == Post::ok;
    });
  }
  /// Polls until PE 0 has seen `count` completions in all.
  void wait_completed(size_t count) {
    wait_for("operations", [&] {
      serve_mine();
      if (failed[0] != 0) throw std::runtime_error("operation failed, error " + std::to_string(last_error));
      return completed[0] >= count;
    });
  }

  std::atomic<size_t> completed[2] = {0, 0};
  std::atomic<size_t> failed[2] = {0, 0};
  std::atomic<int> last_error = 0;

 private:
  Pages heap_[2];
  std::shared_ptr<F> fabric_[2];
  std::jthread peer_;
};

/// A value that differs from byte to byte and from run to run.
inline std::byte pattern(size_t i, unsigned seed) noexcept {
  return static_cast<std::byte>((i * 131 + (i >> 8) * 17 + seed * 29) & 0xff);
}
inline void fill(std::byte* p, size_t n, unsigned seed) noexcept {
  for (size_t i = 0; i < n; ++i) p[i] = pattern(i, seed);
}
/// Index of the first byte that is not the pattern; n when all are.
inline size_t first_wrong(const std::byte* p, size_t n, unsigned seed) noexcept {
  for (size_t i = 0; i < n; ++i)
    if (p[i] != pattern(i, seed)) return i;
  return n;
}

}  // namespace railshmem::testing_support
