// SPDX-License-Identifier: BSD-3-Clause
#include "src/observe/observer.h"

#include <unistd.h>

#include <chrono>
#include <thread>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/process.h"

namespace railshmem::observe {

/// Which observers a thread that ends may still tell.
struct Living {
  std::mutex mutex;
  std::vector<Observer*> observers;
};

namespace {

Living& living() {
  return g_process.observers.get();
}

/// The log of the calling thread, and the id of the Observer that the log belongs to.
struct Mine {
  uint64_t observer = 0;
  ThreadLog* log = nullptr;
};
thread_local Mine t_mine;

struct Farewell {
  ~Farewell() {
    const std::lock_guard lock(living().mutex);
    for (Observer* observer : living().observers)
      if (observer->id() == t_mine.observer) observer->thread_ended(*t_mine.log);
    t_mine = {};  // the main thread may record again in a function of atexit()
  }
};

uint64_t next_id() noexcept {
  return g_process.numbers.observers.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Observer::Observer(const Settings& settings) : id_(next_id()), settings_(settings) {
  if (!settings.trace.empty()) spool_ = std::make_unique<Spool>(settings.trace, settings.trace_limit);
  log();  // the thread that starts the library comes first
  const std::lock_guard lock(living().mutex);
  living().observers.push_back(this);
}

Observer::~Observer() {
  const std::lock_guard lock(living().mutex);
  std::erase(living().observers, this);
}

ThreadLog& Observer::log() noexcept {
  if (t_mine.observer == id_) [[likely]]
    return *t_mine.log;
  return add_log();
}

ThreadLog& Observer::add_log() noexcept {
  try {
    thread_local Farewell t_farewell;
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      t_mine = {id_, idle_.back()};
      idle_.pop_back();
      return *t_mine.log;
    }
    idle_.reserve(logs_.size() + 1);  // so that thread_ended() cannot fail
    logs_.push_back(std::make_unique<ThreadLog>(static_cast<int>(logs_.size())));
    t_mine = {id_, logs_.back().get()};
    return *t_mine.log;
  } catch (const std::bad_alloc&) {
    die("no memory is left for the records of thread %zu; unset SHMEM_STATS and SHMEM_TRACE", logs_.size());
  }
}

void Observer::thread_ended(ThreadLog& log) noexcept {
  const std::lock_guard lock(mutex_);
  log.call.depth = 0;
  if (!log.name) idle_.push_back(&log);  // a name is for one thread
}

void Observer::name_thread(const char* name) noexcept {
  ThreadLog& mine = log();
  const std::lock_guard lock(mutex_);
  mine.name = name;
}

void Observer::begin(Kind kind, Way way, const char* function, uint64_t nbytes, int pe) noexcept {
  ThreadLog::Call& call = log().call;
  if (call.depth++ > 0) return;
  call.kind = kind;
  call.way = way;
  call.event = {0, 0, function, kKindNames[static_cast<size_t>(kind)], nbytes, pe};
  call.event.began = ticks();
}

void Observer::end() noexcept {
  const uint64_t now = ticks();
  ThreadLog& mine = log();
  ThreadLog::Call& call = mine.call;
  if (--call.depth > 0) return;
  call.event.ended = now;
  mine.counters().count(call.kind, call.way, call.event.nbytes, now - call.event.began);
  if (tracing()) keep(mine, call.event);
}

void Observer::did(const char* what, uint64_t began, uint64_t nbytes, int pe) noexcept {
  if (tracing()) keep(log(), {began, ticks(), what, "proxy", nbytes, pe});
}

void Observer::keep(ThreadLog& log, const Event& event) noexcept {
  if (log.keep(event)) [[likely]]
    return;
  const std::lock_guard lock(mutex_);
  const std::span<const Event> full = log.kept();
  if (!full.empty() && !spool_->append(log.number(), full)) log.dropped += full.size();
  log.empty();
  if (!log.make_room()) {
    ++log.dropped;
    return;
  }
  log.keep(event);
}

Totals Observer::finish() {
  clock_.calibrate();
  Totals totals;
  const std::lock_guard lock(mutex_);
  for (const auto& log : logs_) totals.add(log->counters().totals());
  for (auto& ways : totals.calls)
    for (Sum& sum : ways) sum.ticks = clock_.span_ns(sum.ticks);
  for (const Engine in_ticks : {Engine::slept_ticks, Engine::copying_ticks}) {
    uint64_t& ticks = totals.engine[static_cast<size_t>(in_ticks)];
    ticks = clock_.span_ns(ticks);
  }
  return totals;
}

PartInfo Observer::write_part(const std::string& path) {
  // A thread that dies while it holds the mutex must not hang in here.
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int ms = 0; !lock && ms < 1000; ++ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock = std::unique_lock(mutex_, std::try_to_lock);
  }
  if (!lock) throw Error("the events of SHMEM_TRACE are locked, so their timeline cannot be written");
  clock_.calibrate();
  TimelineWriter file(path, settings_.pe, clock_);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  file.name_process(text("PE %d (%s, pid %d)", settings_.pe, host, static_cast<int>(getpid())));
  uint64_t dropped = 0;
  for (const auto& log : logs_) {
    file.name_thread(log->number(), log->name ? log->name : text("thread %d", log->number()));
    dropped += log->dropped;
  }
  spool_->read([&](int thread, std::span<const Event> events) { file.write(thread, events); });
  for (const auto& log : logs_) file.write(log->number(), log->kept());
  return file.finish(dropped, 1);
}

std::string Observer::part_path() const {
  return settings_.trace + ".pe" + std::to_string(settings_.pe);
}

void Observer::rescue() noexcept {
  if (!tracing() || rescued_.exchange(true)) return;
  try {
    const PartInfo part = write_part(part_path());
    log_warn("the job ends early; the timeline of this PE alone is in %s (%llu events, %llu dropped)",
             part_path().c_str(), static_cast<unsigned long long>(part.events),
             static_cast<unsigned long long>(part.dropped));
  } catch (const std::exception& e) {
    log_error("%s", e.what());
  }
}

}  // namespace railshmem::observe
