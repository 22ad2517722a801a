// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/waiting.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace railshmem::python {
namespace {

constexpr int kInterrupted = 130;  // what shells say of a program that Ctrl-C ended

// The handler runs in any thread, so what it reads is atomic; nothing else depends on the order of these.
std::atomic<const char*> g_waits_in{nullptr};  ///< the function in which the main thread waits
std::atomic<int> g_interrupts{0};              ///< in this wait
static_assert(std::atomic<const char*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

pthread_t g_main_thread;
char g_speaker[32] = "";  ///< "railshmem: PE 3: "; empty until receive_interrupts()
void (*g_pythons_handler)(int) = nullptr;

/// Only what a handler of signals may call.
template <class... Part>
void say(Part... parts) noexcept {
  char line[512];
  size_t n = 0;
  const auto add = [&](const char* part) {
    for (; *part != '\0' && n + 1 < sizeof line; ++part) line[n++] = *part;
  };
  (add(parts), ...);
  line[n++] = '\n';
  if (write(STDERR_FILENO, line, n) < 0) return;  // there is nobody to tell
}

void interrupted(int signal) {
  g_pythons_handler(signal);
  const char* const function = g_waits_in.load(std::memory_order_relaxed);
  if (function == nullptr) return;
  if (g_interrupts.fetch_add(1, std::memory_order_relaxed) == 0) {
    say(g_speaker, "warn: Ctrl-C in ", function,
        ", which waits for other PEs: KeyboardInterrupt comes when the wait is over; Ctrl-C again ends this process");
    return;
  }
  say(g_speaker, "error: Ctrl-C twice in ", function, ", which waits for other PEs; this process ends");
  _exit(kInterrupted);
}

}  // namespace

Waiting::Waiting(const char* function) noexcept
    : in_main_thread_(g_speaker[0] != '\0' && pthread_equal(pthread_self(), g_main_thread) != 0) {
  if (!in_main_thread_) return;
  g_interrupts.store(0, std::memory_order_relaxed);
  g_waits_in.store(function, std::memory_order_relaxed);
}

Waiting::~Waiting() {
  if (in_main_thread_) g_waits_in.store(nullptr, std::memory_order_relaxed);
}

void receive_interrupts(int pe) {
  struct sigaction before {};
  if (std::getenv("RAILSHMEM_LAUNCHER_PE") != nullptr || sigaction(SIGINT, nullptr, &before) != 0) return;
  const bool is_pythons =
      before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN && (before.sa_flags & SA_SIGINFO) == 0;
  if (!is_pythons || before.sa_handler == interrupted) return;
  g_main_thread = pthread_self();
  g_pythons_handler = before.sa_handler;
  std::snprintf(g_speaker, sizeof g_speaker, "railshmem: PE %d: ", pe);
  struct sigaction ours = before;
  ours.sa_handler = interrupted;
  sigaction(SIGINT, &ours, nullptr);
}

}  // namespace railshmem::python
