// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/job_end.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "src/base/log.h"
#include "src/base/process.h"
#include "src/base/signal_actions.h"
#include "src/base/thread.h"

namespace railshmem {
namespace {

// Deadlines of the steps, in seconds. oshrun waits a little longer than all together before it sends SIGTERM.
constexpr int kTellSeconds = 12;  // the bootstraps give up earlier, each with its own limit
constexpr int kTidySeconds = 5;   // a timeline may have to be written
constexpr int kExitSeconds = 5;   // exit handlers, destructors of static objects, stdio
constexpr int kFlushSeconds = 2;
/// A thread of the program that waits in a call of the library looks for news every 20 ms. It may run exit handlers; a
/// thread of the library that hears the news first leaves it this time.
constexpr timespec kPause{0, 10'000'000};
constexpr int kPausesForProgram = 50;
constexpr int kPausesForOthers = 3000;  // half a minute: more than all steps take

using Exit = Process::End::Exit;
using Exiting = Process::End::Exiting;

thread_local bool t_ending = false;

/// exit() by two threads at once is undefined before glibc 2.41, where the second one waits for the first.
bool takes_exit(Exiting who) noexcept {
  Exiting before = Exiting::nobody;
  return g_process.end.exiting.compare_exchange_strong(before, who, std::memory_order_relaxed) || before == who;
}

void leave_now(int) {
  _exit(g_process.end.status.load(std::memory_order_relaxed));
}

void handle(int signal, void (*handler)(int)) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

/// Whatever hangs from here on, the process ends in `seconds`. By a signal, because this needs no memory, no lock and
/// no other thread.
void end_within(int seconds) noexcept {
  handle(SIGALRM, leave_now);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  const itimerval once{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

// acquire, in the three functions: pairs with set_end_hooks(); what the hooks use is complete.
bool notifying_kills() noexcept {
  const auto hook = g_process.end.notifying_kills.load(std::memory_order_acquire);
  return hook && hook();
}

void notify(int status, const char* why) noexcept {
  end_within(kTellSeconds);
  if (const auto hook = g_process.end.notify.load(std::memory_order_acquire)) hook(status, why);
}

void tidy(EndHooks::Cause cause) noexcept {
  end_within(kTidySeconds);
  if (const auto hook = g_process.end.tidy.load(std::memory_order_acquire)) hook(cause);
}

void* flush(void*) {
  pthread_setname_np(pthread_self(), "railshmem-end");
  std::fflush(nullptr);
  return nullptr;
}

/// Also the standard streams, which libstdc++ of GCC 13 and newer flushes only with its own static objects.
void* flush_streams(void* nothing) {
  for (std::ostream* const stream : {&std::cout, &std::cerr, &std::clog}) stream->flush();
  for (std::wostream* const stream : {&std::wcout, &std::wcerr, &std::wclog}) stream->flush();
  return flush(nothing);
}

/// Writes what stdio holds, by a thread of its own: other threads may have the lock of a FILE as long as they like.
/// Gives up after `seconds`; that thread may keep locks of stdio then, so only the end of the process may follow.
void flush_output(int seconds, void* (*by)(void*) = flush) noexcept {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += seconds;
  pthread_t thread{};
  int refused = 0;
  {
    const SignalsLeftToProgram in_new_thread;
    refused = pthread_create(&thread, nullptr, by, nullptr);
  }
  if (refused != 0) {
    if (t_ending) std::fflush(nullptr);  // under the deadline of the end
    return;
  }
  if (pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &until) != 0) pthread_detach(thread);
}

/// The first handler that is registered is the last to run: behind the destructors of static objects, before those of
/// libraries whose threads still run.
void finish_exit() {
  const Exit how = g_process.end.exit.load(std::memory_order_relaxed);
  if (how == Exit::not_by_us) return;
  const int status = g_process.end.status.load(std::memory_order_relaxed);
  flush_output(kFlushSeconds, flush_streams);
  if (how == Exit::exiting_and_notifies) notify(status, "");
  _exit(status);
}

[[gnu::constructor]] void register_first_handler() {
  std::atexit(finish_exit);
}

/// From here on this thread ends the process, with `status`.
void begin(int status) noexcept {
  if (t_ending) {  // an exit handler, or a step of the end, has come here again: the first status counts
    flush_output(kFlushSeconds);
    leave_now(0);
  }
  claim_the_end();
  g_process.end.status.store(status, std::memory_order_relaxed);
}

[[noreturn]] void end_by_exit(int status, EndHooks::Cause cause) noexcept {
  const bool kills = notifying_kills();
  if (!kills) notify(status, "");
  tidy(cause);
  g_process.end.exit.store(kills ? Exit::exiting_and_notifies : Exit::exiting, std::memory_order_relaxed);
  end_within(kExitSeconds);
  if (takes_exit(Exiting::ender)) std::exit(status);
  for (;;) pause();  // the program's exit() comes to finish_exit()
}

[[noreturn]] void end_by_flush(int status, const char* why, EndHooks::Cause cause) noexcept {
  const bool kills = notifying_kills();
  if (!kills) notify(status, why);
  tidy(cause);
  end_within(2 * kFlushSeconds);
  flush_output(kFlushSeconds);
  if (kills) notify(status, why);
  _exit(status);
}

/// Leaves the end to a thread of the program that waits in a call, where there is one.
void wait_for_program() noexcept {
  for (int i = 0; i < kPausesForProgram && !end_is_claimed(); ++i) nanosleep(&kPause, nullptr);
}

}  // namespace

// release: pairs with the functions that call the hooks.
void set_end_hooks(const EndHooks& hooks) noexcept {
  g_process.end.notifying_kills.store(hooks.notifying_kills, std::memory_order_release);
  g_process.end.tidy.store(hooks.tidy, std::memory_order_release);
  g_process.end.notify.store(hooks.notify, std::memory_order_release);
}

void claim_the_end() noexcept {
  // relaxed: nothing is handed over.
  if (!t_ending && g_process.end.claimed.exchange(true, std::memory_order_relaxed))
    for (int i = 0; i < kPausesForOthers; ++i) nanosleep(&kPause, nullptr);
  t_ending = true;
}

bool end_is_claimed() noexcept {
  return g_process.end.claimed.load(std::memory_order_relaxed);
}
bool this_thread_ends() noexcept {
  return t_ending;
}

void wait_for_the_end() noexcept {
  if (t_ending) return;
  const bool mine = takes_exit(Exiting::program);
  // Not mine: the other thread is in exit() already, or waits there for this one (glibc 2.41 and newer).
  const int pauses = mine ? kPausesForOthers : kPausesForProgram;
  for (int i = 0; i < pauses && (!mine || g_process.end.exit.load(std::memory_order_relaxed) == Exit::not_by_us); ++i)
    nanosleep(&kPause, nullptr);
}

void end_wanted(int status) noexcept {
  begin(status);
  end_by_exit(status, EndHooks::Cause::own);
}

void end_with_error(const char* why) noexcept {
  begin(kAbortStatus);
  end_by_flush(kAbortStatus, why, EndHooks::Cause::own);
}

void end_as_told(const JobEnd& told) noexcept {
  if (is_library_thread()) wait_for_program();
  begin(told.status);
  if (!told.message.empty()) log_error("%s", told.message.c_str());
  if (!told.wanted || is_library_thread()) end_by_flush(told.status, told.message.c_str(), EndHooks::Cause::told);
  // Other threads of the program run on while its static objects are destroyed. What they then do wrong does not change
  // the status.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) handle(signal, leave_now);
  end_by_exit(told.status, EndHooks::Cause::told);
}

}  // namespace railshmem
