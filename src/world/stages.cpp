// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/stages.h"

#include <string>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem {
namespace {

constexpr double kNsPerMs = 1e6;

}  // namespace

void Stages::setup(const std::function<void(const char*)>& after) {
  const uint64_t began = now_ns();
  std::string times;
  try {
    for (const Stage& stage : stages_) {
      const uint64_t stage_began = now_ns();
      log_info("setup: %s", stage.name);
      ++begun_;
      stage.setup();
      if (after) after(stage.name);
      times += text("%s%s %.1f", times.empty() ? "" : ", ", stage.name,
                    static_cast<double>(now_ns() - stage_began) / kNsPerMs);
    }
  } catch (...) {
    log_info("setup: %s failed", stages_[begun_ - 1].name);
    undo();
    throw;
  }
  log_info("setup took %.1f ms: %s", static_cast<double>(now_ns() - began) / kNsPerMs, times.c_str());
}

void Stages::undo() noexcept {
  for (; begun_ > 0; --begun_) {
    const Stage& stage = stages_[begun_ - 1];
    if (!stage.undo) continue;
    log_info("teardown: %s", stage.name);
    stage.undo();
  }
}

}  // namespace railshmem
