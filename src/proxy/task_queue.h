// SPDX-License-Identifier: BSD-3-Clause
// Tasks that other threads queue for the proxy thread.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <mutex>

namespace railshmem {

/// A thread that wants to change the proxy thread itself (its CUDA context, its CPUs) queues a task here and waits.
class TaskQueue {
 public:
  /// By any other thread, while the one that calls run() lives. Throws what `task` throws.
  template <class Wake>
  void ask(const std::function<void()>& task, Wake&& wake) {
    const std::lock_guard one_at_a_time(mutex_);
    std::packaged_task<void()> queued(task);
    std::future<void> done = queued.get_future();
    // release: pairs with the acquire in run(); without it the thread could see half of the task.
    waiting_.store(&queued, std::memory_order_release);
    wake();
    done.get();
  }

  /// The thread's side: one load where there is nothing to do.
  void run() noexcept {
    // acquire: pairs with the release in ask()
    std::packaged_task<void()>* const task = waiting_.load(std::memory_order_acquire);
    if (task == nullptr) [[likely]]
      return;
    // relaxed: the next task comes after this one's end, which is told by its future. Before that end, after which
    // the task is no more.
    waiting_.store(nullptr, std::memory_order_relaxed);
    (*task)();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::packaged_task<void()>*> waiting_{nullptr};
};

}  // namespace railshmem
