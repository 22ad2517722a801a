// SPDX-License-Identifier: BSD-3-Clause
// Setup as a list of named stages, each with its undo.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace railshmem {

struct Stage {
  const char* name;
  std::function<void()> setup;
  /// Takes down what setup() made, also when setup() has thrown halfway. Does not throw; empty: nothing is left.
  std::function<void()> undo = {};
};

class Stages {
 public:
  explicit Stages(std::vector<Stage> stages) noexcept : stages_(std::move(stages)) {}

  /// Runs the stages in order. If one throws, undo() takes down that stage and those before it, and the exception goes
  /// on.
  /// `after` is called after each stage, with its name, and may throw like the stage itself.
  void setup(const std::function<void(const char*)>& after = {});
  /// Undoes the stages that have begun, the last one first. A second call does nothing.
  void undo() noexcept;

 private:
  const std::vector<Stage> stages_;
  size_t begun_ = 0;
};

}  // namespace railshmem
