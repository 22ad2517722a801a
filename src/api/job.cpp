// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/job.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "shmem/types.h"
#include "src/api/device_views.h"
#include "src/api/memberships.h"
#include "src/base/death_detector.h"
#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/base/job_end.h"
#include "src/base/log.h"
#include "src/base/printable.h"
#include "src/base/process.h"
#include "src/base/shm_files.h"
#include "src/base/thread.h"
#include "src/check/collective.h"
#include "src/observe/observer.h"
#include "src/rma/liveness.h"
#include "src/rma/probe.h"

namespace railshmem::job {

/// What this process has of a job. Kept after the last finalize, so that init works again, and closed when the process
/// exits.
struct Job {
  std::mutex mutex;                                  ///< start and finish
  std::optional<StandardPlaceholders> placeholders;  ///< while libraries of the World open descriptors
  Memberships memberships;
  std::atomic<Bootstrap*> bootstrap{nullptr};  ///< for the hooks of the end; null: nobody is to be told
  std::unique_ptr<World> world;
  std::unique_ptr<World> finished;       ///< kept for calls that other threads may be inside, until the next start
  std::atomic<World*> last{nullptr};     ///< of both, the last one: for calls
  std::atomic<PeState*> state{nullptr};  ///< of `world`, for whichever thread fails
  uint64_t since_ns = 0;                 ///< of the job, by shm_file_time_ns(): no PE has made files before
  int users = 0;
  std::atomic<int> thread_level{SHMEM_THREAD_SINGLE};
  std::atomic<bool> running{false};
  bool handles_exit = false;  ///< the handlers of exit and fork are registered
};

namespace {

thread_local World* t_world = nullptr;

Job& this_job() {
  return g_process.job_state.get();
}

/// What a job that ends early has recorded.
void rescue_timeline() noexcept {
  const PeState* state = this_job().state;
  if (state && state->observer) state->observer->rescue();
}

/// For messages about failed rails. While the World is torn down its Liveness takes exits for no deaths.
std::optional<std::string> dead_peer() noexcept {
  const PeState* state = this_job().state;
  return state && state->liveness ? state->liveness->dead_peer() : std::nullopt;
}

/// The library's part of a forked child: it is no PE, so nothing of its parent's may be used, and nobody be told of its
/// end. Its own calls of the library end it, and not the job. Nor does it keep from peers that its parent has ended.
void disown_child() noexcept {
  g_process.pe_state.store(nullptr, std::memory_order_relaxed);
  this_job().state = nullptr;
  set_absence(Absence::forked);
  this_job().bootstrap.store(nullptr, std::memory_order_relaxed);
  this_job().memberships.abandon();
  set_end_hooks({});
  set_death_detector(nullptr);
  this_job().running.store(false, std::memory_order_relaxed);
}

/// Of this process, which ends without closing its endpoints, and of peers of this host that have ended so: nobody else
/// may be left to do it.
void remove_network_files() noexcept {
  const PeState* state = this_job().state;
  if (!state || !state->network) return;
  try {
    std::vector<pid_t> processes{getpid()};
    if (state->liveness)
      for (const pid_t peer : state->liveness->ended()) processes.push_back(peer);
    remove_shm_files(processes, this_job().since_ns);
  } catch (const std::bad_alloc&) {  // they stay
  }
}

/// The job ends, and with it this process. A peer whose connection broke may not have ended yet: the kernel closes its
/// connections first.
void remove_network_files_at_last() noexcept {
  constexpr timespec kPause{0, 10'000'000};
  constexpr int kPauses = 20;
  const PeState* state = this_job().state;
  if (!state || !state->network || !state->liveness) return;
  for (int i = 0; i < kPauses && !state->liveness->all_ended(); ++i) nanosleep(&kPause, nullptr);
  remove_network_files();
}

/// Says goodbye to launcher and peers. A World that still runs is left as it is: its teardown is collective, and the
/// peers learn from the missing goodbye that this PE has gone.
void leave_at_exit() {
  if (is_forked_child()) return;
  if (end_is_claimed()) return wait_for_the_end();
  Job& job = this_job();
  if (job.world) {
    // No warning where the launcher told this PE to end, or a PE died: the reason was printed then.
    if (!job.memberships.current()->told_to_end() && !dead_peer())
      log_warn("this process exits without shmem_finalize; call it before returning from main");
    rescue_timeline();
    remove_network_files();
    return;
  }
  // release: no abort may use the bootstrap any more.
  job.bootstrap.store(nullptr, std::memory_order_release);
  job.memberships.end();
}

/// Called by the first start that has a bootstrap, and so after what that has registered for the exit.
void handle_ends_of_process() {
  if (std::exchange(this_job().handles_exit, true)) return;
  std::atexit(leave_at_exit);
  pthread_atfork(nullptr, nullptr, disown_child);
}

// The hooks of the end. acquire, in both that read the bootstrap: pairs with start(); it is complete once its address
// is here.
void notify_end(int status, const char* why) noexcept {
  if (Bootstrap* bootstrap = this_job().bootstrap.load(std::memory_order_acquire)) bootstrap->notify_end(status, why);
}

bool notifying_kills() noexcept {
  Bootstrap* bootstrap = this_job().bootstrap.load(std::memory_order_acquire);
  return bootstrap && bootstrap->notifying_kills();
}

void tidy(EndHooks::Cause cause) noexcept {
  if (cause == EndHooks::Cause::own) rescue_timeline();
  if (notifying_kills())
    remove_network_files();  // the others have not been told yet
  else
    remove_network_files_at_last();
}

void print_settings(const Env& env, const World& world, int pe) {
  if (pe != 0) return;
  if (env.version)
    std::fprintf(stderr, "%s, OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
  if (env.info)
    std::fprintf(stderr, "%s\n%s%s", SHMEM_VENDOR_STRING, describe_env().c_str(),
                 printable_lines(world.describe()).c_str());
}

/// Null where the program has nothing to do with CUDA: loading the driver takes a good part of a second.
const cuda::Driver* driver_for(const Env& env, bool has_kernels) {
  if (env.heap_kind == HeapKind::host) return nullptr;
  const bool wanted = env.heap_kind == HeapKind::device || has_kernels || cuda::driver_is_loaded();
  return wanted ? driver() : nullptr;
}

void publish_view(const WorldView* view) {
  if (view)
    DeviceViews::instance().set(*view);
  else
    DeviceViews::instance().clear();
}

/// From here on calls of other threads end the job with a message that names them.
void close_to_calls() {
  set_absence(Absence::finalized);
  g_process.pe_state.store(nullptr, std::memory_order_relaxed);
  this_job().running.store(false, std::memory_order_relaxed);
}

void warn_unknown_names(int pe) {
  if (pe != 0) return;
  for (const std::string& warning : unknown_names(process_environment())) log_warn("%s", warning.c_str());
}

/// Peers that fail together come to their ends about together; those that wait for this PE never come.
constexpr std::chrono::milliseconds kFailedPatience{500};

/// Ends the process once kFailedPatience is over, unless asked to stop before.
void leave_if_alone(const std::stop_token& stop, int status) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, kFailedPatience, [] { return false; });
  if (stop.stop_requested()) return;
  claim_the_end();
  log_error(
      "this process ends with status %d, and other PEs have not come to the shmem_finalize that start_pes implies "
      "within %.1f s; it leaves without them, which ends the job",
      status, std::chrono::duration<double>(kFailedPatience).count());
  rescue_timeline();
  remove_network_files();
  _exit(status);
}

}  // namespace

int start(int requested_thread_level, const BootstrapRequest& request) {
  if (is_forked_child()) die_forked_child("shmem_init");
  if (t_world) {  // a PE that is a thread was started by whoever made its World
    t_world->barrier("shmem_init");
    return thread_level();
  }
  Job& job = this_job();
  const std::lock_guard lock(job.mutex);
  if (job.world) {
    job.memberships.must_be_current(*job.world, request);
    ++job.users;
    job.world->barrier("shmem_init");
    return job.thread_level;
  }
  ++job.users;
  try {
    job.placeholders.emplace();
    const Env env = Env::parse();
    set_log_level(env.debug);
    if (job.since_ns == 0) job.since_ns = shm_file_time_ns();
    job.finished.reset();
    // relaxed: nothing of the old bootstrap is used any more, which entering another job may destroy.
    job.bootstrap.store(nullptr, std::memory_order_relaxed);
    Bootstrap& bootstrap = job.memberships.enter(env, request);
    handle_ends_of_process();
    set_process_log_pe(bootstrap.pe());
    // release: pairs with the hooks of the end.
    job.bootstrap.store(&bootstrap, std::memory_order_release);
    set_end_hooks({notify_end, notifying_kills, tidy});
    set_death_detector(dead_peer);
    warn_unknown_names(bootstrap.pe());
    WorldOptions options;
    options.several_threads_call = requested_thread_level == SHMEM_THREAD_MULTIPLE;
    options.has_kernels = DeviceViews::instance().any();
    options.driver = driver_for(env, options.has_kernels);
    options.publish_view = publish_view;
    options.close_to_calls = close_to_calls;
    job.world = std::make_unique<World>(env, bootstrap, options);
    print_settings(env, *job.world, bootstrap.pe());
  } catch (...) {
    job.placeholders.reset();
    --job.users;
    throw;
  }
  job.thread_level = requested_thread_level;
  set_absence(Absence::not_started);
  job.last = job.world.get();
  job.state = &job.world->state();
  g_process.pe_state = job.state.load();
  job.running.store(true, std::memory_order_release);  // whoever sees it sees the world, too
  return requested_thread_level;
}

void finish() {
  if (this_thread_ends()) return;  // called by an exit handler of the program
  if (t_world) return t_world->barrier("shmem_finalize");
  Job& job = this_job();
  const std::lock_guard lock(job.mutex);
  if (job.users == 0) return;
  if (checking(job.world->state()))
    check::must_agree(job.world->teams().world(), {job.world->state(), "shmem_finalize"});
  if (--job.users > 0) return job.world->barrier("shmem_finalize");
  job.world->finish();
  if (job.world->may_be_in_use())
    job.finished = std::move(job.world);
  else
    job.world.reset();
  job.state = nullptr;
  job.placeholders.reset();
  if (job.memberships.current()->ends_with_world()) job.bootstrap.store(nullptr, std::memory_order_relaxed);
  job.memberships.leave();
}

void finish_failed(int status) {
  auto watch = start_thread<std::jthread>({"railshmem-exit", "the watch over the others' end"}, log_pe(),
                                          [status](const std::stop_token& stop) { leave_if_alone(stop, status); });
  // What follows the others' coming takes as long as it takes.
  if (Job& job = this_job(); job.world && !t_world)
    job.world->when_all_finish([&watch] {
      watch.request_stop();
      if (watch.joinable()) watch.join();  // it may be ending this process, and reads the World
    });
  finish();
  if (Job& job = this_job(); job.world && !t_world)
    job.world->when_all_finish({});  // it runs on, and the watch ends here
}

const cuda::Driver* driver() {
  return g_process.cuda_driver.get([]() -> const cuda::Driver* {
    const std::optional<cuda::Driver> loaded = cuda::load_driver();
    return loaded ? new cuda::Driver(*loaded) : nullptr;
  });
}

World& must_run(const char* function) {
  if (!running()) throw Error("the library is not running; call shmem_init first");
  return world(function);
}

bool running() noexcept {
  return this_job().running.load(std::memory_order_acquire) || t_world;  // acquire: pairs with the store in start()
}
bool has_run() noexcept {
  return running() || absence() == Absence::finalized;
}
int thread_level() noexcept {
  return this_job().thread_level.load(std::memory_order_relaxed);
}

World& world(const char* function) noexcept {
  if (t_world) return *t_world;
  pe_state(function);  // ends the job when nothing runs
  return *this_job().last.load(std::memory_order_relaxed);
}

void exit_all(int status) noexcept {
  if (is_forked_child()) die_forked_child("shmem_global_exit");
  if (t_world) t_world->bootstrap().notify_end(status, "");
  end_wanted(status);
}

void bind_world(World* world) noexcept {
  t_world = world;
  bind_pe_state(world ? &world->state() : nullptr);
}

}  // namespace railshmem::job
