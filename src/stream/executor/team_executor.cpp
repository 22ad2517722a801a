// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/team_executor.h"

#include <utility>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/base/thread.h"
#include "src/base/yield.h"
#include "src/stream/executor/call_word.h"
#include "src/stream/executor/idle_rest.h"

namespace railshmem {

TeamExecutor::TeamExecutor(Config config)
    : config_(std::move(config)),
      thread_(start_thread({"railshmem-coll", "a team's executor of collectives"}, config_.pe, [this] { run(); })) {}

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
  if (config_.begin) config_.begin();
  begun_.store(true, std::memory_order_release);  // release: pairs with leave()
  uint64_t idle_since = now_ns();
  while (!stop_.load(std::memory_order_relaxed)) {
    const uint32_t number = take_asked(config_.word);
    if (number == 0) {
      idle_rest(now_ns() - idle_since, config_.share_cpus);
      continue;
    }
    perform(number);
    idle_since = now_ns();
  }
}

void TeamExecutor::perform(uint32_t number) noexcept {
  bool in_turn = true;
  const std::shared_ptr<const StreamedCollective> call = calls_.take(number, &in_turn);
  if (const char* const why = gone_.load(std::memory_order_relaxed))
    die("%s: a graph was launched that captured this call, but %s; destroy the graph before", call->function(), why);
  if (!in_turn) die_of_two_streams(*call);  // this stream has written over the number of an earlier call
  config_.run(*call);
  if (!answer(config_.word, number)) die_of_two_streams(*call);  // another one has asked meanwhile
}

void TeamExecutor::die_of_two_streams(const StreamedCollective& call) const noexcept {
  die("%s: two streams use %s at once, whose calls must follow each other; let a stream wait for the stream that used "
      "the "
      "team before (cudaStreamWaitEvent), or split a team for each stream",
      call.function(), config_.team.c_str());
}

}  // namespace railshmem
