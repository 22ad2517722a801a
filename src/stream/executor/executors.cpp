// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/executors.h"

#include <time.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/collective/background.h"
#include "src/cuda/context_guard.h"

namespace railshmem {
namespace {

/// For messages.
std::string name_of(const Team& team) {
  if (team.handle() == SHMEM_TEAM_WORLD) return "SHMEM_TEAM_WORLD";
  return text("the team of %d PEs from PE %d to PE %d", team.size(), team.pes.pe(0), team.pes.pe(team.size() - 1));
}

/// One page, zeroed.
std::byte* new_page(size_t nbytes) {
  void* const page = std::aligned_alloc(nbytes, nbytes);
  if (!page) throw std::bad_alloc();
  return static_cast<std::byte*>(std::memset(page, 0, nbytes));
}

}  // namespace

Executors::Executors(const cuda::DeviceContext& gpu, const cuda::DeviceContext& working_gpu, StreamSide& side,
                     Network* network, std::function<Team&(const Team&)> twin_of)
    : gpu_(gpu), working_gpu_(working_gpu), side_(side), network_(network), twin_of_(std::move(twin_of)) {}

Executors::~Executors() {
  constexpr const char* kWhy = "shmem_finalize has been called";
  for (auto& [team, work] : works_) left_.push_back(std::move(work));
  works_.clear();
  // The driver tells of a graph's end in a thread of its own, some time later.
  constexpr timespec kPause{0, 1'000'000};
  constexpr int kPauses = 100;
  for (int i = 0; sweep_left() && i < kPauses; ++i) nanosleep(&kPause, nullptr);
  if (left_.empty()) return;
  log_warn(
      "graphs live on that captured collectives between nodes; do not launch them, and destroy them before "
      "shmem_finalize");
  // Never destroyed: the GPU's context may be gone by then.
  static auto& pages = *new std::vector<std::unique_ptr<Page>>;
  std::move(pages_.begin(), pages_.end(), std::back_inserter(pages));
  static std::vector<std::unique_ptr<TeamExecutor>> watching;  // until the process exits
  for (TeamWork& work : left_) {
    work.executor->leave(kWhy);
    watching.push_back(std::move(work.executor));
  }
}

Executors::Page::Page(const cuda::DeviceContext& gpu, size_t nbytes)
    : memory(new_page(nbytes)), pinned(gpu, {memory.get(), nbytes}) {}

/// A graph that outlives its team writes the words at every replay, so words of captured calls are never given again.
std::pair<cuda::CallWords*, cuda::CallWords*> Executors::new_words() {
  if (free_words_.empty()) {
    const cuda::HostRegistration& page = pages_.emplace_back(std::make_unique<Page>(gpu_, kPageBytes))->pinned;
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
  // Now, while no stream waits for the executor: the driver may hold up the creation of streams until others are idle.
  queue_of(twin, "a collective between nodes");
  auto executor = std::make_unique<TeamExecutor>(TeamExecutor::Config{
      host, team.state.me, name_of(team), team.state.spin.share_cpus, [this] { cuda::adopt_thread(working_gpu_); },
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

/// Ends the executors of teams that are gone, once no graph holds a call of theirs. Returns whether some are left.
bool Executors::sweep_left() noexcept {
  for (TeamWork& work : left_) sweep(work);
  std::erase_if(left_, [](const TeamWork& work) { return !work.executor->calls().has_replayed(); });
  return !left_.empty();
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
  sweep_left();
  sweep(work);
  if (work.executor->calls().has_replayed()) {
    work.executor->leave("its team has been destroyed");
    left_.push_back(std::move(work));
    return;
  }
  work.executor.reset();
  free_words_.emplace_back(work.host, work.device);
}

}  // namespace railshmem
