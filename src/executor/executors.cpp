// SPDX-License-Identifier: BSD-3-Clause
#include "src/executor/executors.h"

#include <exception>
#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/context_guard.h"

namespace railshmem {

Executors::Executors(const cuda::DeviceContext& gpu, StreamSide& side, Network* network,
                     std::function<Team&(const Team&)> twin_of)
    : gpu_(gpu), side_(side), network_(network), twin_of_(std::move(twin_of)) {}

Executors::~Executors() = default;

/// A graph that outlives its team writes the words at every replay, so words of captured calls are never given again.
std::pair<cuda::CallWords*, cuda::CallWords*> Executors::new_words() {
  if (free_words_.empty()) {
    const cuda::PinnedMemory& page = pages_.emplace_back(gpu_, kPageBytes);
    for (size_t i = 0; i < kWordsPerPage; ++i)
      free_words_.emplace_back(reinterpret_cast<cuda::CallWords*>(page.host()) + i,
                               reinterpret_cast<cuda::CallWords*>(page.device()) + i);
  }
  const auto words = free_words_.back();
  free_words_.pop_back();
  return words;
}

Executors::TeamWork& Executors::work_of(const Team& team) {
  const auto found = works_.find(team.handle());
  if (found != works_.end()) return found->second;
  if (network_ && !std::exchange(shares_host_calls_, true)) network_->share_host_calls();
  const auto [host, device] = new_words();
  Team& twin = twin_of_(team);
  auto executor = std::make_unique<TeamExecutor>(
      TeamExecutor::Config{host, team.state.me, team.state.spin.share_cpus, [this] { cuda::adopt_thread(gpu_); },
                           [&twin](const StreamedCollective& call) { call.run(twin); }});
  return works_
      .emplace(team.handle(), TeamWork{host, device, std::move(executor), std::make_unique<GraphHolds>(nullptr)})
      .first->second;
}

/// Forgets the calls of graphs that are gone.
void Executors::sweep(TeamWork& work) {
  for (const uint64_t number : work.graphs->take_released())
    work.executor->calls().forget(static_cast<uint32_t>(number));
}

/// Has the graph that the stream is captured into hold a call. Where the driver cannot, the call stays.
void Executors::hold(TeamWork& work, cuda::Stream stream, uint32_t number) {
  try {
    work.graphs->hold(gpu_, captured_graph(gpu_, stream).graph, number);
  } catch (const std::exception& error) {
    log_debug("a captured collective stays until the end of the library: %s", error.what());
  }
}

void Executors::add(StreamedCollective call, const Coll& coll, cuda::Stream stream) noexcept {
  try {
    if (log_enabled(LogLevel::debug)) log_debug("%s: %s", coll.function, explain(coll).c_str());
    const Lifetime lifetime = side_.is_captured(stream) ? Lifetime::replayed : Lifetime::once;
    const std::lock_guard lock(mutex_);
    TeamWork& work = work_of(coll.team);
    sweep(work);
    const uint32_t number = work.executor->calls().add(std::move(call), lifetime);
    side_.ask_host(work.device, number, stream);
    if (lifetime == Lifetime::replayed) hold(work, stream, number);
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
      team.state.lots[1] ? team.state.lots[1]->nbytes() / 2 : 0);
}

void Executors::leave(const Team& team) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = works_.find(team.handle());
  if (found == works_.end()) return;
  TeamWork work = std::move(found->second);
  works_.erase(found);
  sweep(work);
  if (work.executor->calls().has_replayed()) {
    work.executor->leave();
    left_.push_back(std::move(work.executor));
    return;
  }
  work.executor.reset();
  free_words_.emplace_back(work.host, work.device);
}

}  // namespace railshmem
