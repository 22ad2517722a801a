// SPDX-License-Identifier: BSD-3-Clause
// Functions that take turns on one thread of the host. Each runs until it waits for another one, or ends.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace railshmem::emulation {

/// Sleeps 20 us, and longer where many naps went before: whoever waits for a deadline of seconds leaves the CPU to
/// others.
inline void nap(uint32_t naps_before) {
  const timespec time{0, 20'000L << std::min(naps_before / 64, 6U)};
  nanosleep(&time, nullptr);
}

/// Stacks of fibers, kept for later ones: taking one from the system costs more than most fibers run.
class Stacks {
 public:
  static constexpr size_t kNbytes = size_t{256} << 10, kGuard = 4096;  ///< below a stack, where nothing may be stored

  static void* take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        void* const stack = free_.back();
        free_.pop_back();
        return stack;
      }
    }
    void* const stack = mmap(nullptr, kNbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, kGuard, PROT_NONE) != 0) {
      std::perror("emulation: a stack");
      std::abort();
    }
    return stack;
  }
  static void give_back(void* stack) {
    const std::lock_guard lock(mutex_);
    free_.push_back(stack);
  }

 private:
  static inline std::mutex mutex_;
  static inline std::vector<void*> free_;
};

/// State: what each fiber has of its own in variables of the thread. It is swapped by State::swap() whenever a fiber
/// begins to run and when it stops.
template <class State>
class Fibers {
 public:
  void add(State state, std::function<void()> body) {
    fibers_.push_back(std::make_unique<Fiber>(std::move(state), std::move(body)));
  }
  /// Returns when all have ended.
  void run() {
    Fibers* const outer = std::exchange(running_, this);
    for (auto& fiber : fibers_) fiber->prepare();
    uint32_t idle = 0;
    for (size_t left = fibers_.size(); left > 0;) {
      bool worked = false;
      for (auto& fiber : fibers_) {
        if (fiber->ended) continue;
        now_ = fiber.get();
        waits_on_ = false;
        now_->state.swap();
        swapcontext(&home_, &now_->context);
        now_->state.swap();
        worked |= now_->ended || !waits_on_;
        if (now_->ended) --left;
      }
      idle = worked ? 0 : idle + 1;
      if (idle > 0) rest(idle);
    }
    fibers_.clear();
    running_ = outer;
  }

  /// The fibers of the calling thread, or null.
  static Fibers* running() { return running_; }
  /// Lets the others run. `waits_on`: the calling fiber waits for something, and has looked for it before.
  void pass(bool waits_on) {
    waits_on_ = waits_on;
    swapcontext(&now_->context, &home_);
  }

 private:
  struct Fiber {
    Fiber(State its, std::function<void()> function) : state(std::move(its)), body(std::move(function)) {}
    ~Fiber() { Stacks::give_back(stack); }
    Fiber(const Fiber&) = delete;
    void prepare() {
      getcontext(&context);
      context.uc_stack.ss_sp = stack;
      context.uc_stack.ss_size = Stacks::kNbytes;
      context.uc_link = nullptr;
      makecontext(&context, &Fibers::begin, 0);
    }

    State state;
    const std::function<void()> body;
    void* const stack = Stacks::take();
    ucontext_t context{};
    bool ended = false;
  };

  static void begin() noexcept {
    Fiber* const fiber = running_->now_;
    fiber->body();
    fiber->ended = true;
    running_->pass(false);
  }
  /// Nobody could go on: what they wait for comes from other threads or processes.
  static void rest(uint32_t passes) {
    if (passes <= kYields)
      sched_yield();
    else
      nap(passes);
  }
  static constexpr uint32_t kYields = 2;

  static inline thread_local Fibers* running_ = nullptr;

  std::vector<std::unique_ptr<Fiber>> fibers_;
  ucontext_t home_{};
  Fiber* now_ = nullptr;
  bool waits_on_ = false;
};

}  // namespace railshmem::emulation
