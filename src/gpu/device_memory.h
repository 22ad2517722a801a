// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap in the memory of the GPUs: addresses from the start, a GPU when the program has chosen one, and
// memory chunk by chunk as it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/fd_offers.h"
#include "src/cuda/device_copies.h"
#include "src/gpu/device_region.h"
#include "src/plugin/bootstrap.h"
#include "src/topology/node_layout.h"

namespace railshmem {

struct DeviceMemoryConfig {
  size_t limit = 0;          ///< bytes that one PE's heap may grow to
  size_t header_nbytes = 0;  ///< bytes at the heap's start for the library itself
  size_t zero_nbytes = 0;    ///< the first of these, zero after attach()
  size_t host_slot = 0;      ///< of this PE among those of its host, which share the GPUs
};

/// Who updates the words of an allocation by atomic operations and signals.
enum class Updates : uint8_t {
  any,        ///< every PE may update them
  node_only,  ///< the program declared that other nodes only SET them, so GPUs of the node update them themselves
};

/// All PEs of `bootstrap` make the functions marked "Collective" in one order with equal arguments, and get equal
/// offsets from them. Such a call succeeds on all PEs or on none. One thread at a time.
class DeviceMemory {
 public:
  /// Reserves addresses. Throws Error.
  DeviceMemory(const cuda::Driver& driver, Bootstrap& bootstrap, const NodeLayout& layout,
               const DeviceMemoryConfig& config);
  DeviceMemory(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// Collective. Takes the GPU that is current on this thread. Where none is current, the PEs of a host take the GPUs
  /// in turn. Maps the headers of the heaps of the node's PEs. Throws Error naming the PE that cannot.
  void attach();
  /// After attach(): has threads of the library work in a context of the library's own, so that they go on while a call
  /// of the program waits in the driver. Goes on without where the driver gives none.
  void work_beside_program() noexcept;
  bool attached() const noexcept { return gpu_ != nullptr; }
  /// Whether every PE of the node has mapped the memory of all others; if not, only the network reaches them.
  bool reaches_node() const noexcept { return reaches_node_; }

  /// Collective. Returns nullptr on all PEs when there is no room, or when one PE has no memory left. In the second
  /// case the heap is as before, and a warning names that PE. Throws Error where present memory cannot be shared.
  void* allocate(size_t nbytes, size_t align, Updates updates = Updates::any);
  /// Collective. Shrinks the object, or grows it in place. False, with nothing changed, where neither is possible.
  bool try_resize(const void* object, size_t nbytes);
  /// Sets a function that is called, collectively, whenever the heap got more memory. If `grown` throws, the call that
  /// brought the memory throws too.
  void listen(std::function<void()> grown) { grown_ = std::move(grown); }
  /// Frees an allocation, on this PE only. False when `object` is no allocation.
  bool release(const void* object);
  /// Usable bytes; 0 when `object` is not an allocation.
  size_t size_of(const void* object) const noexcept;
  /// The allocation that holds `address`, by its offset from base(); empty when no allocation does.
  std::optional<OffsetAllocator::Extent> find(const void* address) const noexcept;

  bool contains(const void* address) const noexcept { return offset_of(address) < nbytes(); }
  /// The Updates of the allocation that holds `address`, which may be any address.
  Updates updates_of(const void* address) const noexcept {
    return declared_.contains(offset_of(address)) ? Updates::node_only : Updates::any;
  }
  /// Address of the library's own bytes at the heap's start.
  std::byte* header() const noexcept { return base(); }
  std::byte* base() const noexcept { return arena_.address(static_cast<size_t>(layout_.my_slot)); }
  /// Bytes of addresses, not of memory: three ranges as long as the limit. They are for the heap, for the program's
  /// buffers (SymmetricBuffers), and for allocations with Updates::node_only, which thus lie in one range.
  size_t nbytes() const noexcept { return 3 * config_.limit; }
  size_t limit() const noexcept { return config_.limit; }
  size_t declared_offset() const noexcept { return 2 * config_.limit; }
  /// An extent of this PE's memory. All PEs have extents at equal places; their number only grows.
  struct Chunk {
    size_t at, nbytes;
  };
  std::vector<Chunk> chunks() const;
  size_t used() const noexcept { return heap_.used() + declared_.used(); }
  /// The addresses of all heaps of the node.
  std::span<const std::byte> addresses() const noexcept { return {arena_.base(), arena_.nbytes()}; }
  const cuda::DeviceArena& arena() const noexcept { return arena_; }
  cuda::DeviceArena& arena() noexcept { return arena_; }
  FdOffers& offers() noexcept { return offers_; }
  /// The GPU of each PE; only after attach().
  const std::vector<cuda::Uuid>& gpu_of_pe() const noexcept { return gpu_of_pe_; }
  /// This PE's GPU, in the program's context; only after attach().
  const cuda::DeviceContext& gpu() const noexcept { return *gpu_; }
  /// Where copies and reductions for peers are made: the context of work_beside_program(), or the program's.
  const cuda::DeviceContext& working_gpu() const noexcept { return beside_ ? *beside_ : *gpu_; }
  /// In the program's context.
  cuda::DeviceCopies& copies() noexcept { return *copies_; }
  std::string describe() const;

 private:
  size_t offset_of(const void* address) const noexcept {
    return static_cast<size_t>(static_cast<const std::byte*>(address) - base());
  }
  DeviceRegion& region_of(const void* object) noexcept {
    return updates_of(object) == Updates::node_only ? declared_ : heap_;
  }
  cuda::DeviceContext choose_gpu() const;
  size_t backed() const noexcept { return heap_.backed() + declared_.backed(); }
  template <class Step>
  auto growing(Step&& step);
  void agree_on_reach(const std::vector<cuda::Uuid>& devices);

  const cuda::Driver& driver_;
  Bootstrap& bootstrap_;
  const NodeLayout& layout_;
  const DeviceMemoryConfig config_;
  std::unique_ptr<cuda::DeviceContext> gpu_;     ///< null: not attached; outlives the members below, which use it
  std::unique_ptr<cuda::DeviceContext> beside_;  ///< null: none; see work_beside_program()
  std::vector<cuda::Uuid> gpu_of_pe_;
  cuda::DeviceArena arena_;
  FdOffers offers_;
  DeviceRegion heap_;
  DeviceRegion declared_;
  std::unique_ptr<cuda::DeviceCopies> copies_;
  bool reaches_node_ = false;
  std::function<void()> grown_;
};

}  // namespace railshmem
