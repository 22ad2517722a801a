// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/context_table.h"

#include <unistd.h>

#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/rma/ordering.h"

namespace railshmem {

ContextTable::~ContextTable() {
  for (size_t place = 0; place < used_places_; ++place)
    if (Entry& e = entry(place); e.handle.load(std::memory_order_relaxed) != 0 && e.context.net)
      network_->drop_context(e.context.net);
  for (auto& block : blocks_) delete[] block.load(std::memory_order_relaxed);
}

/// Throws std::bad_alloc, or Error when all places are in use.
size_t ContextTable::take_place() {
  if (!free_.empty()) {
    const size_t place = free_.back();
    free_.pop_back();
    return place;
  }
  if (used_places_ == kMost) throw Error(text("%zu contexts exist", kMost));
  if (used_places_ % kPerBlock == 0) {
    free_.reserve(used_places_ + kPerBlock);  // so that destroy() cannot fail
    // release: pairs with find().
    blocks_[used_places_ / kPerBlock].store(new Entry[kPerBlock], std::memory_order_release);
  }
  return used_places_++;
}

shmem_ctx_t ContextTable::create(const PeSet* pes, shmem_team_t team, long options) noexcept {
  NetContext* net = nullptr;
  try {
    if (network_) net = network_->make_context();
    const std::lock_guard lock(mutex_);
    const size_t place = take_place();
    Entry& e = entry(place);
    e.context = {net, pes, team, options, gettid()};
    // relaxed: only to be different.
    const uintptr_t handle =
        ((g_process.numbers.contexts.fetch_add(1, std::memory_order_relaxed) + 1) << 20) | (place + 2);
    if (listener_) [[unlikely]]
      listener_(place, handle, e.context);
    // release: pairs with find().
    e.handle.store(handle, std::memory_order_release);
    return reinterpret_cast<shmem_ctx_t>(handle);
  } catch (const std::exception& e) {
    log_info("no room for another context: %s", e.what());
    if (net) network_->drop_context(net);
    return SHMEM_CTX_INVALID;
  }
}

void ContextTable::listen(Listener listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
  for (size_t place = 0; place < used_places_; ++place) {
    const Entry& e = entry(place);
    // relaxed: handles change under the mutex only.
    if (const uintptr_t handle = e.handle.load(std::memory_order_relaxed); handle != 0)
      listener_(place, handle, e.context);
  }
}

void ContextTable::destroy(PeState& state, shmem_ctx_t handle) noexcept {
  Context* const context = find(handle);
  if (!context) return;
  const auto value = reinterpret_cast<uintptr_t>(handle);
  const size_t place = (value & kPlaceMask) - 2;
  {
    const std::lock_guard lock(mutex_);
    // relaxed: handles change under the mutex only.
    std::atomic<uintptr_t>& present = entry(place).handle;
    if (present.load(std::memory_order_relaxed) != value) return;  // another thread was faster
    present.store(0, std::memory_order_relaxed);
    if (listener_) [[unlikely]]
      listener_(place, 0, Context{});
  }
  quiet(state, *context);
  if (context->net) network_->drop_context(context->net);
  const std::lock_guard lock(mutex_);
  free_.push_back(place);
}

/// Visits the contexts that `wanted` selects; the mutex is free during a visit, which may wait for peers.
template <class Wanted, class Visit>
void ContextTable::for_each(Wanted&& wanted, Visit&& visit) noexcept {
  std::unique_lock lock(mutex_);
  for (size_t place = 0; place < used_places_; ++place) {
    Entry& e = entry(place);
    // relaxed: handles change under the mutex only.
    const uintptr_t handle = e.handle.load(std::memory_order_relaxed);
    if (handle == 0 || !wanted(e.context)) continue;
    lock.unlock();
    visit(reinterpret_cast<shmem_ctx_t>(handle), e.context);
    lock.lock();
  }
}

void ContextTable::destroy_of(PeState& state, shmem_team_t team) noexcept {
  for_each([&](const Context& context) { return context.team == team; },
           [&](shmem_ctx_t handle, Context&) { destroy(state, handle); });
}

/// Under the mutex, so that no other thread ends a context meanwhile.
void ContextTable::quiet_all(PeState& state) noexcept {
  const std::lock_guard lock(mutex_);
  for (size_t place = 0; place < used_places_; ++place)
    if (Entry& e = entry(place); e.handle.load(std::memory_order_relaxed) != 0) quiet(state, e.context);
}

}  // namespace railshmem
