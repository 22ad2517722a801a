// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/team_scratches.h"

#include <time.h>

#include <algorithm>
#include <iterator>
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
    take_notes();  // the memory of others may be free by now
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
  take_notes();
  if (kept.capture == graph.id) return;
  count(kept, 1);  // before the graph can let go
  try {
    graphs_.hold(memory_.gpu(), graph.graph, kept.number);
    kept.capture = graph.id;
  } catch (const std::exception& error) {
    count(kept, -1);
    log_debug("a graph does not keep the memory of its collectives: %s", error.what());
  }
}

void TeamScratches::count(Kept& kept, int more) noexcept {
  const std::lock_guard locked(mutex_);
  kept.holds += static_cast<size_t>(more);
}

/// Graphs that are gone hold nothing any more. Memory is freed without the lock: the driver may wait for kernels, which
/// may wait for calls that other threads are about to give.
void TeamScratches::take_notes() noexcept {
  std::vector<Kept> over;
  const std::lock_guard locked(mutex_);
  for (const uint64_t number : graphs_.take_released()) {
    for (std::vector<Kept>* const list : {&by_slot_, &left_})
      for (Kept& kept : *list)
        if (kept.number == number) --kept.holds;
  }
  const auto stays = [](const Kept& kept) { return kept.holds > 0 || kept.closing; };
  const auto first_over = std::partition(left_.begin(), left_.end(), stays);
  std::move(first_over, left_.end(), std::back_inserter(over));
  left_.erase(first_over, left_.end());
}

/// Takes what has left out of its list, or keeps it there; null where it is gone.
TeamScratches::Kept TeamScratches::end_closing(uint64_t number, bool closed) noexcept {
  const std::lock_guard locked(mutex_);
  const auto found = std::find_if(left_.begin(), left_.end(), [&](const Kept& kept) { return kept.number == number; });
  found->closing = false;
  if (closed && found->holds > 0) return {};
  Kept over = std::move(*found);
  left_.erase(found);
  return over;
}

void TeamScratches::leave(Kept& kept) noexcept {
  Kept gone;  // freed without the lock
  TeamScratch* scratch = nullptr;
  const uint64_t number = kept.number;
  {
    const std::lock_guard locked(mutex_);
    gone = std::exchange(kept, {});
    if (gone.holds > 0) {
      scratch = gone.scratch.get();
      gone.closing = true;
      left_.push_back(std::move(gone));
    }
  }
  if (scratch == nullptr) return;
  bool closed = false;
  try {
    scratch->close(memory_.copies());
    closed = true;
  } catch (const std::exception& error) {
    log_debug("graphs that captured collectives of a team do not keep its memory: %s", error.what());
  }
  const Kept over = end_closing(number, closed);
}

void TeamScratches::forget(const Team& team) noexcept {
  take_notes();
  leave(by_slot_[static_cast<size_t>(team.slot)]);
}

bool TeamScratches::are_held() noexcept {
  take_notes();
  const std::lock_guard locked(mutex_);
  return !left_.empty() || std::any_of(by_slot_.begin(), by_slot_.end(), [](const Kept& k) { return k.holds > 0; });
}

bool TeamScratches::forget_all() noexcept {
  // The driver tells of a graph's end in a thread of its own, some time later.
  constexpr timespec kPause{0, 1'000'000};
  constexpr int kPauses = 100;
  for (int i = 0; i < kPauses && are_held(); ++i) nanosleep(&kPause, nullptr);
  for (Kept& kept : by_slot_) leave(kept);
  return are_held();
}

}  // namespace railshmem
