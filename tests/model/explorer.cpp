// SPDX-License-Identifier: BSD-3-Clause
#include "tests/model/explorer.h"

#include <stdexcept>

namespace railshmem {

namespace {
constexpr size_t kStackBytes = 64 * 1024;
constexpr size_t kMaxSteps = 20000;  // a hundred times what a scenario needs: more is a livelock
}  // namespace

Explorer* Explorer::current = nullptr;

size_t Explorer::run(const Scenario& scenario) {
  choices_.clear();
  size_t schedules = 0;
  do {
    std::vector<Body> bodies = scenario();
    fibers_.clear();
    fibers_.resize(bodies.size());
    for (size_t i = 0; i < bodies.size(); ++i) fibers_[i].body = std::move(bodies[i]);
    run_once();
    ++schedules;
    if (!failure_.empty()) {
      throw std::runtime_error(failure_ + " in schedule " + std::to_string(schedules) + " after " +
                               std::to_string(steps_) + " steps");
    }
  } while (next_schedule());
  return schedules;
}

void Explorer::run_once() {
  current = this;
  depth_ = steps_ = 0;
  left_ = preemptions_;
  failure_.clear();
  for (Fiber& fiber : fibers_) {
    fiber.stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Explorer::enter, 0);
  }
  running_ = choose(fibers_.size());
  swapcontext(&main_, &fibers_[running_].context);
  current = nullptr;
}

/// Depth first: the last choice that has another option takes it, and what came after is forgotten.
bool Explorer::next_schedule() {
  while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().options) choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

size_t Explorer::choose(size_t options) {
  if (depth_ == choices_.size()) choices_.push_back({0, options});
  return choices_[depth_++].taken;
}

void Explorer::enter() {
  Explorer& self = *current;
  self.fibers_[self.running_].body();
  self.fibers_[self.running_].finished = true;
  self.leave(true);
}

void Explorer::step() {
  if (++steps_ > kMaxSteps) require(false, "livelock");
  ++fibers_[running_].moves;
  if (left_ == 0) return;
  std::vector<size_t> others;
  for (size_t i = 0; i < fibers_.size(); ++i) {
    if (i != running_ && !fibers_[i].finished) others.push_back(i);
  }
  if (others.empty()) return;
  const size_t pick = choose(others.size() + 1);
  if (pick == 0) return;
  --left_;
  switch_to(others[pick - 1]);
  ++fibers_[running_].moves;  // the access that this step announced comes only now
}

size_t Explorer::moves_of_others(size_t index) const {
  size_t moves = 0;
  for (size_t i = 0; i < fibers_.size(); ++i) moves += i == index ? 0 : fibers_[i].moves;
  return moves;
}

/// A waiting thread looked at everything since its last turn; it is stuck if nobody moved since the turn before.
void Explorer::idle() {
  Fiber& self = fibers_[running_];
  const size_t moves = moves_of_others(running_);
  self.idle = moves == self.moves_seen;
  self.moves_seen = moves;
  leave(false);
}

bool Explorer::ready(size_t index) const {
  const Fiber& fiber = fibers_[index];
  return !fiber.finished && !(fiber.idle && moves_of_others(index) == fiber.moves_seen);
}

/// The running thread cannot go on. A choice only where a thread ends: one per turn of a spin loop would explode.
void Explorer::leave(bool free_choice) {
  std::vector<size_t> able;
  for (size_t i = 1; i <= fibers_.size(); ++i) {
    const size_t index = (running_ + i) % fibers_.size();
    if (ready(index)) able.push_back(index);
  }
  if (!able.empty()) return switch_to(able[free_choice ? choose(able.size()) : 0]);
  for (const Fiber& fiber : fibers_) {
    if (!fiber.finished) require(false, "every thread waits");
  }
  setcontext(&main_);
}

void Explorer::switch_to(size_t index) {
  if (index == running_) return;
  Fiber& from = fibers_[running_];
  running_ = index;
  swapcontext(&from.context, &fibers_[index].context);
}

void Explorer::require(bool good, const char* what) {
  if (good) return;
  failure_ = what;
  setcontext(&main_);  // the other fibers are dropped where they stand
}

namespace portable {
void model_step() {
  if (Explorer::current != nullptr) Explorer::current->step();
}
void model_idle() {
  if (Explorer::current != nullptr) Explorer::current->idle();
}
}  // namespace portable

}  // namespace railshmem
