// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/transfer_executor.h"

#include <algorithm>
#include <utility>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/base/thread.h"
#include "src/base/yield.h"
#include "src/stream/executor/call_word.h"
#include "src/stream/executor/idle_rest.h"

namespace railshmem {
namespace {

// Time after a transfer in which this thread helps to serve peers: their answer may let a stream reach the next call.
// The proxy thread rests soon, because no kernel pushes commands.
constexpr uint64_t kHelpNs = 2'000'000;

}  // namespace

TransferExecutor::TransferExecutor(Config config)
    : config_(std::move(config)), calls_(config_.nwords), runs_(config_.contexts.size()) {
  for (size_t i = 0; i < runs_.size(); ++i) runs_[i].context.net = config_.contexts[i];
  thread_ = start_thread({"railshmem-puts", "the executor of puts and gets"}, config_.pe, [this] { run(); });
}

TransferExecutor::~TransferExecutor() {
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void TransferExecutor::leave(const char* why) noexcept {
  gone_.store(why, std::memory_order_relaxed);
  // acquire: pairs with run(); what the calls used may go.
  for (const uint64_t began = now_ns(); !left_.load(std::memory_order_acquire);) yield_cpu(now_ns() - began);
}

void TransferExecutor::run() noexcept {
  if (config_.begin) config_.begin();
  uint64_t idle_since = now_ns();
  while (!stop_.load(std::memory_order_relaxed) || under_way_ > 0) {
    const char* const why = gone_.load(std::memory_order_relaxed);
    if (why && under_way_ == 0) {
      left_.store(true, std::memory_order_release);  // release: pairs with leave()
      refuse_calls(why);
    }
    const bool taken = !why && take_calls();
    if (finish_calls() || taken) {
      idle_since = now_ns();
    } else if (under_way_ > 0) {
      wait_a_turn();
    } else {
      const uint64_t idle_ns = now_ns() - idle_since;
      const bool helps = !why && idle_ns < kHelpNs && config_.state->network != nullptr;
      const bool helped = helps && net_progress(*config_.state->network);
      if (!helped) idle_rest(idle_ns, config_.share_cpus);
    }
  }
}

void TransferExecutor::begin_run(Run& run) noexcept {
  run.turn = ++turn_;
  run.waiter.emplace(*config_.state, WaitFor{run.transfer.function, run.transfer.call.pe});
  begin(*config_.state, run.context, run.transfer);
}

/// A launch of a graph may come to a call that runs for another one. finish_calls() sees to it.
bool TransferExecutor::is_under_way(uint32_t number) const noexcept {
  return std::any_of(runs_.begin(), runs_.end(), [number](const Run& run) { return run.number == number; });
}

/// Starts the calls that streams ask for, as many as may be under way. True when there were some.
bool TransferExecutor::take_calls() noexcept {
  bool any = false;
  auto free = runs_.begin();
  const uint32_t highest = calls_.highest();
  for (uint32_t left = highest; left > 0 && under_way_ < runs_.size(); --left) {
    const uint32_t at = next_ < highest ? next_ : 0;
    next_ = at + 1;
    const uint32_t number = asked(config_.words + at);
    if (number == 0) continue;
    if (number != at + 1) die_of_number(number);
    if (is_under_way(number) || take_asked(config_.words + at) == 0) continue;
    while (free->number != 0) ++free;
    free->number = number;
    free->transfer = calls_.find(number);
    ++under_way_;
    begin_run(*free);
    any = true;
  }
  return any;
}

/// Lets the streams go on whose calls are complete. True when there were some.
bool TransferExecutor::finish_calls() noexcept {
  bool any = false;
  for (Run& run : runs_) {
    if (run.number == 0 || !net_is_quiet(*run.context.net)) continue;
    any = true;
    if (!answer(config_.words + run.number - 1, run.number)) {
      // Another launch of the call's graph has come to it since. Both wait for a run that begins after that.
      take_asked(config_.words + run.number - 1);
      begin_run(run);
      continue;
    }
    calls_.over(run.number);
    run.number = 0;
    --under_way_;
  }
  return any;
}

/// Rests as long as suits the call that began last, and drives the network meanwhile.
void TransferExecutor::wait_a_turn() noexcept {
  Run* last = nullptr;
  for (Run& run : runs_) {
    if (run.number == 0) continue;
    run.waiter->look();
    if (!last || run.turn > last->turn) last = &run;
  }
  last->waiter->turn();
}

void TransferExecutor::refuse_calls(const char* why) noexcept {
  for (uint32_t i = 0; i < calls_.highest(); ++i)
    if (const uint32_t number = take_asked(config_.words + i); number != 0)
      die("%s: a stream has come to this call, but %s; let streams end before, and destroy graphs that captured it",
          calls_.find(number).function, why);
}

}  // namespace railshmem
