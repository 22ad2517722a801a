// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/team_scratches.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "src/base/log.h"

namespace railshmem {

TeamScratches::TeamScratches(DeviceMemory& memory, size_t slots)
    : memory_(memory),
      has_graphs_(cuda::has(memory.gpu().driver(), cuda::Calls::graphs)),
      graphs_(nullptr),
      by_slot_(slots) {}

const TeamScratch& TeamScratches::for_call(const Coll& coll, cuda::Stream stream) {
  Kept& kept = by_slot_[static_cast<size_t>(coll.team.slot)];
  if (!kept.scratch) {
    {
      const std::lock_guard locked(mutex_);
      take_notes();  // the memory of others may be free by now
    }
    auto made =
        std::make_unique<TeamScratch>(memory_.gpu(), memory_.copies(), memory_.offers(), coll.team, coll.function);
    const std::lock_guard locked(mutex_);
    kept = {std::move(made), ++last_number_, 0, 0};
  }
  if (has_graphs_)
    if (const auto graph = find_captured_graph(memory_.gpu(), stream)) hold(kept, *graph);
  return *kept.scratch;
}

/// Where the driver cannot, a launch that comes too late ends in CUDA's own error.
void TeamScratches::hold(Kept& kept, const CapturedGraph& graph) noexcept {
  const std::lock_guard locked(mutex_);
  take_notes();
  if (kept.capture == graph.id) return;
  try {
    graphs_.hold(memory_.gpu(), graph.graph, kept.number);
    ++kept.holds;
    kept.capture = graph.id;
  } catch (const std::exception& error) {
    log_debug("a graph does not keep the memory of its collectives: %s", error.what());
  }
}

/// Graphs that are gone hold nothing any more.
void TeamScratches::take_notes() noexcept {
  for (const uint64_t number : graphs_.take_released()) {
    for (std::vector<Kept>* const list : {&by_slot_, &left_})
      for (Kept& kept : *list)
        if (kept.number == number) --kept.holds;
  }
  std::erase_if(left_, [](const Kept& kept) { return kept.holds == 0; });
}

void TeamScratches::leave(Kept& kept) noexcept {
  Kept gone = std::exchange(kept, {});
  if (gone.holds == 0) return;
  try {
    gone.scratch->close(memory_.copies());
    left_.push_back(std::move(gone));
  } catch (const std::exception& error) {
    log_debug("graphs that captured collectives of a team do not keep its memory: %s", error.what());
  }
}

void TeamScratches::forget(const Team& team) noexcept {
  const std::lock_guard locked(mutex_);
  take_notes();
  leave(by_slot_[static_cast<size_t>(team.slot)]);
}

bool TeamScratches::forget_all() noexcept {
  // The driver tells of a graph's end in a thread of its own, some time later.
  constexpr timespec kPause{0, 1'000'000};
  constexpr int kPauses = 100;
  const std::lock_guard locked(mutex_);
  take_notes();
  const auto are_held = [this] {
    return !left_.empty() || std::any_of(by_slot_.begin(), by_slot_.end(), [](const Kept& k) { return k.holds > 0; });
  };
  for (int i = 0; i < kPauses && are_held(); ++i) {
    nanosleep(&kPause, nullptr);
    take_notes();
  }
  for (Kept& kept : by_slot_) leave(kept);
  return !left_.empty();
}

}  // namespace railshmem
