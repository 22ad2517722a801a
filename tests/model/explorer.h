// SPDX-License-Identifier: BSD-3-Clause
// Runs a few threads through every interleaving with a bounded number of preemptions.
//
// The threads are fibers of one real thread, so an interleaving is exact and can be repeated. What is explored is
// sequentially consistent: reordering by weak hardware is ThreadSanitizer's and the comments' business.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace railshmem {

class Explorer {
 public:
  using Body = std::function<void()>;
  /// Makes fresh state and the threads that work on it.
  using Scenario = std::function<std::vector<Body>()>;

  /// A preemption takes the CPU from a thread that could go on. Most bugs of lock-free code need two or fewer.
  explicit Explorer(int preemptions) : preemptions_(preemptions) {}

  /// Returns the number of interleavings, all good, or throws std::runtime_error naming the first bad one.
  size_t run(const Scenario& scenario);

  /// From inside a body: a place where the thread may be preempted.
  void step();
  /// From inside a body: nothing to do until another thread moves.
  void idle();
  /// From inside a body: the interleaving is bad.
  void require(bool good, const char* what);

  static Explorer* current;

 private:
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    Body body;
    bool finished = false;
    bool idle = false;
    size_t moves = 0;
    size_t moves_seen = ~size_t{0};  ///< of others, at the last idle()
  };
  struct Choice {
    size_t taken, options;
  };

  void run_once();
  bool next_schedule();
  size_t choose(size_t options);
  void switch_to(size_t index);
  void leave(bool free_choice);
  bool ready(size_t index) const;
  size_t moves_of_others(size_t index) const;
  static void enter();

  int preemptions_;
  int left_ = 0;
  std::vector<Choice> choices_;
  size_t depth_ = 0;
  std::vector<Fiber> fibers_;
  size_t running_ = 0;
  size_t steps_ = 0;
  std::string failure_;
  ucontext_t main_{};
};

}  // namespace railshmem
