// SPDX-License-Identifier: BSD-3-Clause
// A job of N engines in this process: PEs are threads, descriptors change hands directly.
#pragma once

#include <barrier>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <thread>
#include <vector>

#include "src/base/env.h"
#include "src/base/log.h"
#include "src/proxy/engine.h"

namespace railshmem::test {

struct JobOptions {
  int npes = 2;
  size_t heap_bytes = 1 << 20;
  bool several_threads = false;
  bool oversubscribed = true;  // test machines have fewer cores than these jobs have threads
  double timeout_s = 60;
  uint64_t slots = 1024;
  Tuning tuning{};
  FlushPolicy flush = FlushPolicy::none;
  size_t flush_offset = 0;                        ///< a word that the test leaves alone
  void (*change)(Env& env) = nullptr;             ///< other settings than the defaults
  std::vector<std::vector<Channel*>> channels{};  ///< by PE
};

/// How the engine of one PE is made: a value rather than a type, so that a test is compiled once per fabric.
template <class F>
struct Setup {
  const char* name;
  std::unique_ptr<Engine<F>> (*make)(const NetworkConfig& config, const Tuning& tuning);
  /// With a copier, by PE, rails do not reach the heaps.
  std::unique_ptr<Copier> (*make_copier)(uint64_t seed) = nullptr;
  friend void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.name; }
};

/// Where a PE's heap has byte `offset`.
constexpr Remote heap(int pe, uint64_t offset) {
  return {pe, SegmentId::heap, offset};
}

template <class F>
class EngineJob {
 public:
  using EngineType = Engine<F>;

  explicit EngineJob(const Setup<F>& setup, const JobOptions& options = {})
      : options_(options), barrier_(options.npes) {
    env_ = Env::parse([](const char*) -> const char* { return nullptr; });
    env_.timeout_s = options.timeout_s;
    env_.ofi_slots = options.slots;
    if (options.change != nullptr) options.change(env_);
    std::vector<std::vector<std::byte>> descriptors;
    for (int pe = 0; pe < options.npes; ++pe) {
      NetworkConfig config{&env_, pe, options.npes, options.several_threads, options.oversubscribed};
      if (setup.make_copier != nullptr)
        config.make_copier = [pe, make = setup.make_copier](const BounceMemory&) {
          return make(static_cast<uint64_t>(pe));
        };
      config.flush.policy = options.flush;
      config.flush_offset = options.flush_offset;
      heaps_.push_back(std::make_unique<uint64_t[]>(options.heap_bytes / 8));
      engines_.push_back(setup.make(config, options.tuning));
      Segment heap{SegmentId::heap, base(pe), options.heap_bytes};
      if (setup.make_copier != nullptr) heap.kind = MemoryKind::staged;
      descriptors.push_back(engines_.back()->attach({&heap, 1}));
    }
    for (auto& engine : engines_) engine->connect(descriptors);
    for (int pe = 0; pe < options.npes; ++pe) {
      const bool has_channels = static_cast<size_t>(pe) < options.channels.size();
      engines_[pe]->start(has_channels ? std::span<Channel* const>(options.channels[pe]) : std::span<Channel* const>());
    }
  }
  ~EngineJob() {
    for (auto& engine : engines_) engine->prepare_stop();
    for (auto& engine : engines_) engine->stop();
  }

  /// Runs `body(pe)` on one thread per PE.
  void run(const std::function<void(int pe)>& body) {
    std::vector<std::thread> threads;
    for (int pe = 0; pe < options_.npes; ++pe)
      threads.emplace_back([&body, pe] {
        set_log_pe(pe);
        body(pe);
      });
    for (auto& thread : threads) thread.join();
  }
  /// Blocks without making progress, so the proxies must make it.
  void barrier() { barrier_.arrive_and_wait(); }

  EngineType& engine(int pe) { return *engines_[pe]; }
  auto& host(int pe) { return engines_[pe]->host(); }
  std::byte* base(int pe) { return reinterpret_cast<std::byte*>(heaps_[pe].get()); }
  uint64_t* word(int pe, size_t offset) { return reinterpret_cast<uint64_t*>(base(pe) + offset); }
  uint64_t load(int pe, size_t offset) { return __atomic_load_n(word(pe, offset), __ATOMIC_ACQUIRE); }
  int npes() const { return options_.npes; }

  /// Waits on this PE's memory as shmem_wait_until does.
  void wait_until(int pe, size_t offset, uint64_t value) {
    while (load(pe, offset) != value) {
      host(pe).progress();
      std::this_thread::yield();
    }
  }

 private:
  JobOptions options_;
  Env env_;
  std::barrier<> barrier_;
  std::vector<std::unique_ptr<uint64_t[]>> heaps_;
  std::vector<std::unique_ptr<EngineType>> engines_;
};

/// A byte that depends on who wrote it, when and where.
inline std::byte pattern(int pe, uint64_t round, size_t i) {
  return static_cast<std::byte>((static_cast<uint64_t>(pe) * 31 + round * 7 + i * 13 + (i >> 8)) & 0xff);
}
inline std::vector<std::byte> filled(int pe, uint64_t round, size_t nbytes) {
  std::vector<std::byte> bytes(nbytes);
  for (size_t i = 0; i < nbytes; ++i) bytes[i] = pattern(pe, round, i);
  return bytes;
}

}  // namespace railshmem::test
