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

/// A handle is a place in the table plus two (0 is no context, 1 the default one), and above it the number of contexts
/// that the process made before, by which the handle of a destroyed context is known, also one from before finalize.
class ContextTable {
 public:
  static constexpr size_t kMost = size_t{1} << 16;  // as many completion scopes as a network has

  /// Hears of every context before its handle is known, and of its end (`handle` 0).
  using Listener = std::function<void(size_t place, uintptr_t handle, const Context& context)>;

  explicit ContextTable(Network* network) noexcept : network_(network) {}
  ~ContextTable();
  ContextTable(const ContextTable&) = delete;  // contexts stay where they are

  /// Null for what is no context of this table.
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

  /// A context of the world (pes null) or of a team, whose PeSet must outlive it; SHMEM_CTX_INVALID when there is no
  /// room.
  shmem_ctx_t create(const PeSet* pes, shmem_team_t team, long options) noexcept;
  /// Told of those that are there at once, of others as they come and go; not at the same time by two threads.
  void listen(Listener listener);
  /// Completes what was issued, then ends the context.
  void destroy(PeState& state, shmem_ctx_t handle) noexcept;
  /// All contexts of a team.
  void destroy_of(PeState& state, shmem_team_t team) noexcept;
  /// Completes what was issued on any of them.
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
  std::mutex mutex_;          ///< making and ending, and what follows
  std::vector<size_t> free_;  ///< places that were in use
  size_t used_places_ = 0;    ///< places ever used
  Listener listener_;         ///< empty: nobody listens
  static std::atomic<uintptr_t> made_;
};

}  // namespace railshmem
