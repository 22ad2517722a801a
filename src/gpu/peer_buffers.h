// SPDX-License-Identifier: BSD-3-Clause
// At which address each PE of the node sees this PE's memory: the symmetric heap, and registered buffers. Decision
// 0061.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/mailbox.h"
#include "src/gpu/device_memory.h"
#include "src/gpu/graph_holds.h"
#include "src/gpu/local_memory.h"
#include "src/gpu/peer_imports.h"
#include "src/gpu/peer_view.h"
#include "src/gpu/registered_ranges.h"
#include "src/gpu/share_client.h"
#include "src/gpu/shared_allocations.h"

namespace railshmem {

struct PeerBuffersConfig {
  uint64_t patience_ns = 0;  ///< for answers of peers; kNoLimitNs: forever
  /// A peer that died, as a sentence; empty while all live. Any thread calls it. May be empty.
  std::function<std::optional<std::string>()> death = {};
};

/// Any number of threads, but for the constructor and the destructor. "PEs" are numbers in the world, of this node.
///
/// A collective must not end on its stream before its peers are done with the buffers that it told them: find() keeps a
/// peer's mapping only until the buffer is deregistered, which waits for this PE's GPU and for no other.
class PeerBuffers {
 public:
  /// Collective over the job. `memory` must be attached; it and `layout` outlive this.
  PeerBuffers(DeviceMemory& memory, Bootstrap& bootstrap, const NodeLayout& layout, PeerBuffersConfig config);
  PeerBuffers(const PeerBuffers&) = delete;
  /// All PEs must have come there: nobody asks any more, and no kernel uses memory of peers.
  ~PeerBuffers();

  /// Local. Registers a range of this PE's GPU memory that overlaps with no other one. Throws Error.
  void add(void* address, size_t nbytes);
  /// Local. Undoes add(address, ...), and waits until the GPU has done what it was given. Graphs that captured
  /// collectives on the range hold it on. Throws Error.
  void remove(void* address);
  /// Local. New memory, registered. Throws Error.
  void* allocate(size_t nbytes);
  /// Local. Waits until the GPU has done what it was given. Throws Error.
  void release(void* address);

  /// Where `pes` see [address, address + nbytes) of this PE's memory. Asks no peer about memory of the heap, nor about
  /// an allocation that the peer has mapped already; other peers it asks, and waits for their mailboxes, not for their
  /// programs. Throws Error where the range is registered and its memory was freed, and naming a PE that does not
  /// answer.
  PeerView find(std::span<const int> pes, const void* address, size_t nbytes);
  /// find() for a collective that `stream` captures into a graph. Memory that is not registered is so from here on, for
  /// this graph, if it can be. The graph holds the allocation until it is destroyed; where the driver refuses that, a
  /// warning says so, and peers are not told of the range. Where a peer has freed a block
  /// that this PE still maps, waits until the GPU has done what it was given. Throws Error.
  PeerView find_captured(std::span<const int> pes, const void* address, size_t nbytes, cuda::Stream stream);
  /// find(), or find_captured() where `stream` is being captured.
  PeerView find(std::span<const int> pes, const void* address, size_t nbytes, cuda::Stream stream);
  /// What find() would say about a range, and why, as a phrase: "registered (cudaMalloc memory)". Asks nobody.
  std::string explain(const void* address, size_t nbytes);

  /// Which memory of a peer this PE maps at an address; nothing where it maps none. Not for the heap.
  std::optional<PeerPlace> place_of(const void* here) const noexcept { return imports_.place_of(here); }
  /// Where this PE maps a range of a peer's memory; null where it does not. Not for the heap.
  std::byte* mapped(int pe, uint64_t address, size_t nbytes) const noexcept {
    return imports_.mapped(pe, address, nbytes);
  }

 private:
  class Hold;

  void open_mailbox();
  void make_client(Bootstrap& bootstrap, const PeerBuffersConfig& config);
  Mail answer(std::span<const std::byte> message);
  size_t slot_of(int pe) const;
  size_t my_slot() const noexcept { return static_cast<size_t>(layout_.my_slot); }
  const cuda::DeviceContext& gpu() const noexcept { return memory_.gpu(); }

  bool find_in_heap(std::span<const int> pes, const void* address, size_t nbytes, PeerView& view) const;
  bool is_captured(cuda::Stream stream) const;
  Hold registered(const void* address, size_t nbytes);
  Hold shared_for_graph(const void* address, size_t nbytes);
  bool is_held_by_graph(SharedAllocation& allocation, const CapturedGraph& graph);
  uint64_t fill(SharedAllocation& allocation, std::span<const int> pes, const void* address, PeerView& view);
  uint64_t address_in_peer(SharedAllocation& allocation, size_t slot);

  void let_go(SharedAllocation& allocation, ShareClient::Withdrawal how) noexcept;
  void take_notes(ShareClient::Withdrawal how) noexcept;
  void close_withdrawn();
  void wait_for_gpu();
  void require_no_heap(const void* address) const;

  DeviceMemory& memory_;
  const NodeLayout& layout_;
  std::vector<uint64_t> heap_at_slot_;  ///< this PE's heap as an address of the PE of each slot; 0: not mapped there
  LocalMemory local_;
  PeerImports imports_;
  SharedAllocations allocations_;
  std::mutex mutex_;
  RegisteredRanges ranges_;  ///< with mutex_
  GraphHolds graphs_;
  const bool has_graphs_;  ///< the driver tells of captures; else graphs keep nothing
  std::unique_ptr<ShareClient> client_;
  std::unique_ptr<Mailbox> mailbox_;  ///< null: no peer maps memory of this PE, or no thread could be started
};

}  // namespace railshmem
