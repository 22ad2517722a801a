// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/executors.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/collective/background.h"
#include "src/cuda/context_guard.h"

namespace railshmem {

/// They watch graphs that have outlived shmem_finalize. Their threads end when the process exits.
struct ExecutorsUntilExit {
  std::vector<std::unique_ptr<TeamExecutor>> executors;
};

namespace {

ExecutorsUntilExit& executors_until_exit() {
  return *g_process.executors.get([] {
    std::atexit([] { executors_until_exit().executors.clear(); });
    return new ExecutorsUntilExit;
  });
}

/// For messages.
std::string name_of(const Team& team) {
  if (team.handle() == SHMEM_TEAM_WORLD) return "SHMEM_TEAM_WORLD";
  return text("the team of %d PEs from PE %d to PE %d", team.size(), team.pes.pe(0), team.pes.pe(team.size() - 1));
}

}  // namespace

Executors::Executors(const cuda::DeviceContext& gpu, const cuda::DeviceContext& working_gpu, StreamSide& side,
                     std::function<void()> before_threads, std::function<Team&(const Team&)> twin_of)
    : gpu_(gpu),
      working_gpu_(working_gpu),
      side_(side),
      before_threads_(std::move(before_threads)),
      twin_of_(std::move(twin_of)) {}

Executors::~Executors() {
  constexpr const char* kWhy = "shmem_finalize has been called";
  for (auto& [team, work] : works_) left_.push_back(std::move(work));
  works_.clear();
  const auto gone = [this] {
    sweep_left();
    return left_.empty();
  };
  if (await_graphs(gone)) return;
  log_warn(
      "graphs live on that captured collectives between nodes; do not launch them, and destroy them before "
      "shmem_finalize");
  g_process.kept.add(std::move(pages_));
  ExecutorsUntilExit& watching = executors_until_exit();
  for (TeamWork& work : left_) {
    work.executor->leave(kWhy);
    watching.executors.push_back(std::move(work.executor));
  }
}

std::optional<Executors::Word> Executors::take_free_word() {
  const std::lock_guard lock(mutex_);
  if (free_words_.empty()) return std::nullopt;
  const Word word = free_words_.back();
  free_words_.pop_back();
  return word;
}

/// A graph that outlives its team writes the word at every replay, so words of captured calls are never given again.
Executors::Word Executors::new_word() {
  if (const std::optional<Word> free = take_free_word()) return *free;
  auto page = std::make_unique<CallPage>(gpu_, kPageBytes);
  const Word first{page->host(), page->device()};
  const std::lock_guard lock(mutex_);
  for (size_t at = kWordDistance; at < kPageBytes / sizeof(cuda::CallWord); at += kWordDistance)
    free_words_.push_back({page->host() + at, page->device() + at});
  pages_.push_back(std::move(page));
  return first;
}

Executors::TeamWork* Executors::find_work(const Team& team) {
  const std::lock_guard lock(mutex_);
  const auto found = works_.find(team.handle());
  return found == works_.end() ? nullptr : &found->second;
}

/// Without the lock: the driver may let what is made here wait until streams are idle, and they may wait for calls of
/// other teams that other threads are about to give.
Executors::TeamWork& Executors::work_of(const Team& team) {
  if (TeamWork* const work = find_work(team)) return *work;
  before_threads_();
  const Word word = new_word();
  Team& twin = twin_of_(team);
  // Now, while no stream waits for the executor: the driver may hold up the creation of streams until others are idle.
  queue_of(twin, "a collective between nodes");
  auto executor = std::make_unique<TeamExecutor>(TeamExecutor::Config{
      word.host, team.state.me, name_of(team), team.state.spin.share_cpus, [this] { cuda::adopt_thread(working_gpu_); },
      [&twin](const StreamedCollective& call) { call.run(twin); }});
  const std::lock_guard lock(mutex_);
  return works_.emplace(team.handle(), TeamWork{word, std::move(executor), std::make_unique<GraphCalls>()})
      .first->second;
}

/// Executors of teams that are gone, and of which no graph holds a call any more. They end with the result.
std::vector<Executors::TeamWork> Executors::sweep_left() noexcept {
  std::vector<TeamWork> over;
  const std::lock_guard lock(mutex_);
  for (TeamWork& work : left_) sweep(work);
  const auto held = [](const TeamWork& work) { return work.executor->calls().has_replayed(); };
  const auto first_over = std::partition(left_.begin(), left_.end(), held);
  std::move(first_over, left_.end(), std::back_inserter(over));
  left_.erase(first_over, left_.end());
  return over;
}

void Executors::add(StreamedCollective call, const Coll& coll, cuda::Stream stream) noexcept {
  try {
    if (log_enabled(LogLevel::debug)) log_debug("%s: %s", coll.function, explain(coll).c_str());
    const Lifetime lifetime = side_.is_captured(stream) ? Lifetime::replayed : Lifetime::once;
    TeamWork& work = work_of(coll.team);
    sweep(work);
    const uint32_t number =
        work.executor->calls().add(std::make_shared<const StreamedCollective>(std::move(call)), lifetime);
    // Without a lock: the driver makes the caller wait while the stream's queue is full.
    side_.ask_host(work.word.device, number, stream);
    if (lifetime == Lifetime::replayed) work.graphs->hold(gpu_, stream, number);
  } catch (const std::exception& error) {
    die("%s: the library cannot run this call for the stream: %s", coll.function, error.what());
  }
}

std::string Executors::explain(const Coll& coll) {
  const Team& team = coll.team;
  const auto collective = std::string(name_of(question_of(coll).collective));
  return text(
      "%s of %zu bytes among %d members on %zu nodes: by the host, long ones in chunks over all members' rails; "
      "buffers at "
      "one address of the heap go directly, others through %zu bytes of the library",
      collective.c_str(), coll.nbytes, team.size(), team.nodes.leaders.size(),
      team.state.scratch_slots[1] ? team.state.scratch_slots[1]->nbytes() / 2 : 0);
}

std::optional<Executors::TeamWork> Executors::take_work(const Team& team) {
  const std::lock_guard lock(mutex_);
  const auto found = works_.find(team.handle());
  if (found == works_.end()) return std::nullopt;
  TeamWork work = std::move(found->second);
  works_.erase(found);
  return work;
}

/// Without the lock where a thread is waited for.
void Executors::leave(const Team& team) noexcept {
  std::optional<TeamWork> work = take_work(team);
  if (!work) return;
  sweep(*work);
  const bool is_held = work->executor->calls().has_replayed();
  if (is_held)
    work->executor->leave("its team has been destroyed");
  else
    work->executor.reset();
  const std::vector<TeamWork> over = sweep_left();
  const std::lock_guard lock(mutex_);
  if (is_held)
    left_.push_back(std::move(*work));
  else
    free_words_.push_back(work->word);
}

}  // namespace railshmem
