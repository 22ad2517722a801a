// SPDX-License-Identifier: BSD-3-Clause
#include "src/globals/thread_park.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/process.h"
#include "src/globals/raw_syscall.h"
#include "src/globals/task_list.h"

// The real function: ThreadSanitizer's sigaction() defers handlers to the next interceptor, which a spinning thread
// never reaches. Weak, because only glibc has it.
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*) noexcept __attribute__((weak));

namespace railshmem {

namespace {

constexpr int kMaxThreads = 8192;              // a table of 64 KiB; a process with more is not an HPC process
constexpr uint64_t kBlockedNs = 200'000'000;   // threads that are being made or unmade block signals briefly
constexpr uint64_t kSilentNs = 2'000'000'000;  // an oversubscribed node may not run a thread for a while

enum Held : int { kFresh, kSignalled, kParked, kLeft, kGone };

}  // namespace

/// Lives in pages of its own: globals may be what is being moved.
struct ParkTable {
  struct Entry {
    int tid;
    int held;
  };
  int released;
  int count;
  Entry entry[kMaxThreads];
  char scratch[kTaskScratch];
};

namespace {

RAILSHMEM_BARE int load(const int& word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
RAILSHMEM_BARE void store(int& word, int value) noexcept {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

RAILSHMEM_BARE void hold_this_thread(int) {
  const int saved = errno;
  ParkTable* table = __atomic_load_n(&g_process.park.table, __ATOMIC_ACQUIRE);
  const int tid = static_cast<int>(raw(SYS_gettid));
  const int count = table == nullptr ? 0 : load(table->count);
  for (int i = 0; i < count; ++i) {
    ParkTable::Entry& entry = table->entry[i];
    if (entry.tid != tid || load(entry.held) != kSignalled) continue;
    store(entry.held, kParked);  // release: this thread's stores so far are seen by the copy that follows
    while (load(table->released) == 0) futex_wait(&table->released, 0);
    store(entry.held, kLeft);
  }
  errno = saved;
}

int set_action(int signal, const struct sigaction* now, struct sigaction* before) noexcept {
  return __sigaction != nullptr ? __sigaction(signal, now, before) : sigaction(signal, now, before);
}

RAILSHMEM_BARE ParkTable::Entry* find(ParkTable& table, int tid) noexcept {
  for (int i = 0; i < table.count; ++i)
    if (table.entry[i].tid == tid) return &table.entry[i];
  return nullptr;
}

RAILSHMEM_BARE void pause_briefly() noexcept {
  timespec nap{0, 20'000};
  raw(SYS_nanosleep, &nap, nullptr);
}

/// Whether the one thread that blocks everything is ThreadSanitizer's own. GCC's runtime is a shared library, so that
/// thread never writes the executable's globals; clang links it into the executable.
constexpr int kSanitizerThreads =
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
    1;
#else
    0;
#endif

}  // namespace

RAILSHMEM_BARE bool ThreadPark::refuse(Refusal refusal, int tid) noexcept {
  refusal_ = refusal;
  culprit_ = tid;
  return false;
}

bool ThreadPark::park() noexcept {
  void* pages = mmap(nullptr, sizeof(ParkTable), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return refuse(Refusal::memory, 0);
  table_ = static_cast<ParkTable*>(pages);
  uint64_t all = ~uint64_t{0};  // with raw(): libc would leave its own two signals, setxid's among them, unblocked
  raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask_, sizeof all);
  if (hold_all()) return true;
  release();
  return false;
}

bool ThreadPark::install_handler() noexcept {
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal) {
    if (set_action(signal, nullptr, &before_) != 0 || (before_.sa_flags & SA_SIGINFO) != 0 ||
        before_.sa_handler != SIG_DFL)
      continue;
    struct sigaction now {};
    now.sa_handler = hold_this_thread;
    now.sa_flags = SA_RESTART | SA_ONSTACK;
    sigfillset(&now.sa_mask);
    __atomic_store_n(&g_process.park.table, table_, __ATOMIC_RELEASE);
    if (set_action(signal, &now, nullptr) != 0) continue;
    signal_ = signal;
    return true;
  }
  return false;
}

/// One step towards holding a thread. `deaf` counts those that block every signal for good.
RAILSHMEM_BARE ThreadPark::Progress ThreadPark::hold(int tid, uint64_t waited_ns, int& deaf) noexcept {
  ParkTable& table = *table_;
  ParkTable::Entry* entry = find(table, tid);
  if (entry == nullptr) {
    if (table.count == kMaxThreads) return refuse(Refusal::crowd, tid), Progress::refused;
    entry = &table.entry[table.count];
    entry->tid = tid;
    store(table.count, table.count + 1);  // release: the handler looks for its tid in what the count covers
  }
  if (load(entry->held) == kParked) return Progress::settled;
  const TaskState state = inspect_task(tid, signal_, table.scratch);
  if (state == TaskState::gone) {
    store(entry->held, kGone);
    return Progress::settled;
  }
  if (load(entry->held) == kGone) store(entry->held, kFresh);  // the number was given to a new thread
  const bool known_deaf = kSanitizerThreads != 0 && tid == g_process.park.sanitizer_thread;
  if (state == TaskState::blocked && load(entry->held) == kFresh && (known_deaf || waited_ns > kBlockedNs)) {
    if (kSanitizerThreads != 0 && deaf == 0) g_process.park.sanitizer_thread = tid;
    if (++deaf <= kSanitizerThreads) return Progress::settled;
    return refuse(Refusal::blocked, tid), Progress::refused;
  }
  if (waited_ns > kSilentNs) return refuse(Refusal::silent, tid), Progress::refused;
  if (state == TaskState::blocked || load(entry->held) != kFresh) return Progress::waiting;
  store(entry->held, kSignalled);
  if (raw(SYS_tgkill, raw(SYS_getpid), tid, signal_) != 0) store(entry->held, kGone);
  return Progress::waiting;
}

/// Repeats until a listing shows nobody new while everybody known is held: then nobody is left to start a thread.
RAILSHMEM_BARE bool ThreadPark::hold_all() noexcept {
  const int self = static_cast<int>(raw(SYS_gettid));
  const uint64_t start = now_ns();
  for (;;) {
    TaskList tasks(table_->scratch);
    bool settled = true;
    int deaf = 0;
    const uint64_t waited_ns = now_ns() - start;
    for (int tid = tasks.next(); tid > 0; tid = tasks.next()) {
      if (tid == self) continue;
      if (signal_ == 0 && !install_handler()) return refuse(Refusal::no_signal, tid);
      const Progress progress = hold(tid, waited_ns, deaf);
      if (progress == Progress::refused) return false;
      settled = settled && progress == Progress::settled;
    }
    if (!tasks.complete()) return refuse(Refusal::proc, 0);
    if (settled) return true;
    pause_briefly();
  }
}

RAILSHMEM_BARE void ThreadPark::restore_handler() noexcept {
  if (signal_ == 0) return;
  // Ignoring a signal discards those still pending; with the default action a thread that unblocks it later would die.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  set_action(signal_, &ignore, nullptr);
  set_action(signal_, &before_, nullptr);
}

RAILSHMEM_BARE void ThreadPark::release() noexcept {
  if (table_ == nullptr) return;
  ParkTable& table = *table_;
  store(table.released, 1);
  futex_wake_all(&table.released);
  bool quiet = true;
  for (int i = 0; i < table.count; ++i) {
    while (load(table.entry[i].held) == kParked) pause_briefly();
    quiet = quiet && load(table.entry[i].held) != kSignalled;
  }
  restore_handler();
  // A thread that was signalled but never answered may be about to enter the handler: leave it the table then.
  if (quiet) {
    __atomic_store_n(&g_process.park.table, static_cast<ParkTable*>(nullptr), __ATOMIC_RELEASE);
    raw(SYS_munmap, table_, sizeof(ParkTable));
  }
  table_ = nullptr;
  signal_ = 0;
  raw(SYS_rt_sigprocmask, SIG_SETMASK, &mask_, nullptr, sizeof(uint64_t));
}

std::string ThreadPark::reason() const {
  switch (refusal_) {
    case Refusal::none:
      return "";
    case Refusal::memory:
      return "no memory for the table of threads";
    case Refusal::proc:
      return "cannot list the threads of the process; is /proc mounted?";
    case Refusal::crowd:
      return text("the process has more than %d threads", kMaxThreads);
    case Refusal::no_signal:
      return "every real-time signal has a handler";
    case Refusal::blocked:
      return text("thread %d (%s) blocks all real-time signals, so it cannot be held; initialise before it is started",
                  culprit_, task_name(culprit_).c_str());
    case Refusal::silent:
      return text("thread %d (%s) did not answer in time", culprit_, task_name(culprit_).c_str());
  }
  return "";
}

}  // namespace railshmem
