// SPDX-License-Identifier: BSD-3-Clause
// The contexts that a PE has made, by handle: found without a lock, made and ended by any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "src/base/align.h"
#include "src/rma/pe_state.h"

namespace railshmem {

/// The low bits of a handle are a place in the table plus two (0 is no context, 1 the default context). The high bits
/// are the number of contexts that the process made before. They tell the handle of a destroyed context, also of one
/// destroyed before finalize.
class ContextTable {
 public:
  static constexpr size_t kMost = size_t{1} << 16;  // as many contexts as a network has

  /// Hears of every context before its handle is known, and of its end (`handle` 0).
  using Listener = std::function<void(size_t place, uintptr_t handle, const Context& context)>;

  explicit ContextTable(Network* network) noexcept : network_(network) {}
  ~ContextTable();
  ContextTable(const ContextTable&) = delete;  // contexts stay where they are

  /// Returns the context, or null where the handle is no live one of this table.
  Context* find(shmem_ctx_t handle) const noexcept {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    const size_t place = (value & kPlaceMask) - 2;
    if (place >= kMost) return nullptr;
    // acquire: pairs with the release in create(); the entries of a block are there before the block is.
    Entry* block = blocks_[place / kPerBlock].load(std::memory_order_acquire);
    if (!block) return nullptr;
    Entry& entry = block[place % kPerBlock];
    // acquire: pairs with the release in create(); the context is complete before its handle is.
    return entry.handle.load(std::memory_order_acquire) == value ? &entry.context : nullptr;
  }

  /// Makes a context of the world (pes null) or of a team, whose PeSet must outlive the context. Returns
  /// SHMEM_CTX_INVALID when there is no room.
  shmem_ctx_t create(const PeSet* pes, shmem_team_t team, long options) noexcept;
  /// Tells `listener` of all present contexts now, and of every later one when it is made and when it ends. Only one
  /// thread at a time calls the listener.
  void listen(Listener listener);
  /// Completes the operations of the context, then ends it.
  void destroy(PeState& state, shmem_ctx_t handle) noexcept;
  /// Destroys all contexts of a team.
  void destroy_of(PeState& state, shmem_team_t team) noexcept;
  /// Completes the operations of all contexts.
  void quiet_all(PeState& state) noexcept;

 private:
  static constexpr size_t kPerBlock = 256;
  static constexpr uintptr_t kPlaceMask = (uintptr_t{1} << 20) - 1;

  struct alignas(kCacheLine) Entry {   // two threads with a context each share no line
    std::atomic<uintptr_t> handle{0};  ///< 0: free
    Context context;
  };

  Entry& entry(size_t place) const noexcept {
    return blocks_[place / kPerBlock].load(std::memory_order_relaxed)[place % kPerBlock];
  }
  size_t take_place();
  template <class Wanted, class Visit>
  void for_each(Wanted&& wanted, Visit&& visit) noexcept;

  Network* const network_;
  std::array<std::atomic<Entry*>, kMost / kPerBlock> blocks_{};
  std::mutex mutex_;          ///< held while a context is made or ended; guards the members below
  std::vector<size_t> free_;  ///< places that were in use
  size_t used_places_ = 0;    ///< places ever used
  Listener listener_;         ///< empty: nobody listens
};

}  // namespace railshmem
