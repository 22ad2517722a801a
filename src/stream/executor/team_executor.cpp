// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/team_executor.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/base/yield.h"

namespace railshmem {
namespace {

constexpr uint64_t kSpinNs = 50'000;         // calls of a step follow each other within microseconds
constexpr uint64_t kYieldNs = 2'000'000;     // a step of training takes milliseconds
constexpr uint64_t kNapShare = 64;           // a nap is this part of the idle time: it delays a call by 2 %
constexpr uint64_t kLongestNapNs = 500'000;  // 2000 looks a second, a thousandth of a core

void rest(uint64_t idle_ns, bool share_cpus) noexcept {
  if (!share_cpus && idle_ns < kSpinNs) {
    for (int i = 0; i < 16; ++i) cpu_pause();
    return;
  }
  if (idle_ns < kYieldNs) return yield_cpu(idle_ns);
  const timespec nap{0, static_cast<long>(std::min(idle_ns / kNapShare, kLongestNapNs))};
  nanosleep(&nap, nullptr);
}

}  // namespace

TeamExecutor::TeamExecutor(Config config) : config_(std::move(config)), thread_([this] { run(); }) {}

TeamExecutor::~TeamExecutor() {
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void TeamExecutor::leave(const char* why) noexcept {
  gone_.store(why, std::memory_order_relaxed);  // relaxed: a launch meanwhile is the program's mistake either way
  // acquire: pairs with run(); what config_.begin used may go.
  while (!begun_.load(std::memory_order_acquire)) yield_cpu(0);
}

void TeamExecutor::run() noexcept {
  pthread_setname_np(pthread_self(), "railshmem-coll");
  set_log_pe(config_.pe);
  if (config_.begin) config_.begin();
  begun_.store(true, std::memory_order_release);  // release: pairs with leave()
  uint64_t idle_since = now_ns();
  while (!stop_.load(std::memory_order_relaxed)) {
    // acquire: pairs with the stream's write of `due`, which comes behind all that the stream did before.
    const uint32_t number = __atomic_load_n(&config_.words->due, __ATOMIC_ACQUIRE);
    if (number == 0) {
      rest(now_ns() - idle_since, config_.share_cpus);
      continue;
    }
    perform(number);
    idle_since = now_ns();
  }
}

void TeamExecutor::perform(uint32_t number) noexcept {
  // relaxed: the stream writes `due` again only after it has seen `done`, which is released behind this.
  __atomic_store_n(&config_.words->due, 0, __ATOMIC_RELAXED);
  bool in_turn = true;
  const std::shared_ptr<const StreamedCollective> call = calls_.take(number, &in_turn);
  if (const char* const why = gone_.load(std::memory_order_relaxed))
    die("%s: a graph was launched that captured this call, but %s; destroy the graph before", call->function(), why);
  if (!in_turn) die_of_two_streams(*call);  // this stream has written over the number of an earlier call
  config_.run(*call);
  refuse_other_streams(*call);
  // release: pairs with the stream's wait; what the call brought is there for the stream's next work.
  __atomic_store_n(&config_.words->done, number, __ATOMIC_RELEASE);
}

/// The stream whose call has run waits for `done`, which no other stream may be waiting for. A second stream is seen
/// where it has asked meanwhile, or where a stream before has not taken its answer.
void TeamExecutor::refuse_other_streams(const StreamedCollective& call) const noexcept {
  // relaxed: only whether the job ends depends on both loads.
  if (__atomic_load_n(&config_.words->due, __ATOMIC_RELAXED) != 0) die_of_two_streams(call);
  for (const uint64_t began = now_ns(); __atomic_load_n(&config_.words->done, __ATOMIC_RELAXED) != 0;) {
    const uint64_t waited = now_ns() - began;
    if (waited > config_.answer_ns) die_of_two_streams(call);
    yield_cpu(waited);
  }
}

void TeamExecutor::die_of_two_streams(const StreamedCollective& call) const noexcept {
  die("%s: two streams use %s at once, whose calls must follow each other; let a stream wait for the stream that used "
      "the "
      "team before (cudaStreamWaitEvent), or split a team for each stream",
      call.function(), config_.team.c_str());
}

}  // namespace railshmem
