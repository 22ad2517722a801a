// SPDX-License-Identifier: BSD-3-Clause
// What all proxy threads have: settings, a name, an end, and tasks.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "src/base/thread.h"
#include "src/observe/observer.h"
#include "src/proxy/kernel_pace.h"
#include "src/proxy/rails/tuning.h"
#include "src/proxy/sleeper.h"
#include "src/proxy/task_queue.h"

namespace railshmem {

/// How the proxy threads of a PE wait.
struct LoopConfig {
  int pe;
  bool oversubscribed;
  uint64_t spin_ns;         ///< without work before it rests
  uint64_t nap_ns;          ///< longest rest where nothing would wake it
  uint64_t kernel_spin_ns;  ///< after a kernel's last command, before it rests
  uint64_t kernel_nap_ns;   ///< its rests while kernels have channels
  Tuning tuning;
  observe::Observer* observer = nullptr;  ///< records rests; null: nobody
};

/// A loop's last member: `run` uses the others. It ends when goes_on() says no.
class ProxyThread {
 public:
  /// `name`: 15 letters at most. `track`: a literal, for observers. `sleeper` is what the thread sleeps in.
  ProxyThread(const std::string& name, const char* track, Sleeper& sleeper, const LoopConfig& config,
              std::function<void()> run)
      : sleeper_(sleeper), thread_(start_thread({name, "a proxy thread"}, config.pe, [=, observer = config.observer] {
          if (observer) observer->name_thread(track);
          run();
        })) {}
  ProxyThread(const ProxyThread&) = delete;  // the thread holds its address

  ~ProxyThread() {
    // release: pairs with the acquire in goes_on(); what the stopping thread did before is visible to the last pass.
    stop_.store(true, std::memory_order_release);
    sleeper_.wake();
    thread_.join();
  }

  /// Runs `task` on the thread and returns at its end; throws what it throws.
  void run_there(const std::function<void()>& task) {
    tasks_.ask(task, [this] { sleeper_.wake(); });
  }
  /// Once it serves channels of kernels; also ends its sleep.
  void expect_kernels() { run_there(&KernelPace::nap_precisely); }

  /// On the thread, every turn.
  bool goes_on() noexcept {
    if (stop_.load(std::memory_order_acquire)) return false;
    tasks_.run();
    return true;
  }

  pthread_t native_handle() noexcept { return thread_.native_handle(); }

 private:
  Sleeper& sleeper_;
  TaskQueue tasks_;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem
