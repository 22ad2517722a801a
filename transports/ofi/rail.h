// SPDX-License-Identifier: BSD-3-Clause
// One libfabric endpoint with everything it owns, used by one thread at a time.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/rail.h"
#include "transports/ofi/fid.h"
#include "transports/ofi/local_memory.h"
#include "transports/ofi/memory_region.h"
#include "transports/ofi/nic.h"
#include "transports/ofi/quirks.h"
#include "transports/ofi/receive_pool.h"

namespace railshmem::ofi {

struct RailSetup {
  size_t npes;
  /// Endpoints of a peer that this rail reaches, the first of Port: all for a rail of Port::proxy, 1 for others.
  size_t ports;
  size_t operations;  ///< in flight at most; what keeps the completion queue from overrunning
  /// Somebody may sleep on this rail. A queue with a descriptor costs a system call per event on some providers.
  bool sleeps;
  uint64_t timeout_ns;          ///< a peer that takes no post for so long is lost
  LocalBuffers* local_buffers;  ///< shared by the PE's rails, which it outlives
};

class Rail {
 public:
  Rail(const Nic& nic, const RailSetup& setup);

  // ---- set-up, in this order ----------------------------------------------------------------------------------
  /// Registers the segments for peers; returns what they need, in SegmentId order. A rail that is nobody's target
  /// calls add_local() instead, which registers only where the provider wants local buffers registered.
  std::vector<RemoteRegion> expose(std::span<const Segment> segments);
  void add_local(std::span<const Segment> segments);
  /// Addresses of this PE's device heap, from which no rail copies.
  void use_device_heap(std::span<const std::byte> addresses) noexcept;
  /// Registers memory of this PE's device heap, for peers and as a local buffer.
  RemoteRegion add_piece(const Memory& memory);
  /// Undoes the last add_piece().
  void drop_piece() noexcept { pieces_.pop_back(); }
  /// The endpoint's address in the provider's own format.
  std::vector<std::byte> address() const;
  /// Takes npes * ports addresses back to back, PE by PE, [pe * kSegments + segment] of their regions, and those of
  /// their device heaps by piece and PE, to which the caller adds; it keeps both alive.
  void connect(std::span<const std::byte> addresses, std::span<const RemoteRegion> regions,
               const std::vector<std::vector<RemoteRegion>>* pieces = nullptr);

  // ---- after a failure; in the thread that owns the rail ---------------------------------------------------------
  /// A peer opened its endpoint anew: from now on operations go there. What was posted to the old one ends, if ever, in
  /// its own time. The peer's entries of the table of regions are the caller's to replace.
  void readdress(int pe, Port port, std::span<const std::byte> address);
  /// Closes the endpoint with operations in flight: none of them touches memory any more, here or at a peer, and what
  /// they have not sent yet is discarded, instead of the kernel sending it when the link is back. Until the rail is
  /// opened again every post with a slot answers `again`; no other may be tried.
  void close() noexcept;
  bool is_open() const noexcept { return ep_ != nullptr; }
  /// What close() does first; returns how many sockets that concerned.
  size_t discard_unsent() const;
  /// The paths to these PEs are dead: what is sent there, and attempts to connect, fail within `timeout_ms`, so that
  /// the next attempt meets a link that is back. 0: they live again. Where the provider's connections are TCP sockets;
  /// returns how many.
  size_t limit_silence(std::span<const int> pes, unsigned timeout_ms) const;
  /// Ends the connections to these PEs, of that kind; returns how many.
  size_t cut(std::span<const int> pes) const;

  // ---- concept Rail ---------------------------------------------------------------------------------------------
  const RailTraits& traits() const noexcept { return traits_; }
  Post write(const RailWrite& op) noexcept;
  Post read(const RailRead& op) noexcept;
  Post send(const RailSend& op) noexcept;
  size_t poll(std::span<RailEvent> events) noexcept;
  void release(const RailEvent& message) noexcept;
  int last_error() const noexcept { return last_error_; }
  int wait_fd() const noexcept { return wait_fd_; }
  bool may_sleep() noexcept;
  const std::string& name() const noexcept { return name_; }

  const fi_info& info() const noexcept { return *info_; }
  bool vector_is_table() const noexcept { return addresses_.empty(); }

 private:
  std::vector<std::byte> address_of_peer(size_t index) const;
  std::vector<std::vector<std::byte>> addresses_of(std::span<const int> pes) const;
  void open_queue(size_t depth, bool sleeps);
  void open_endpoint(const Nic& nic, LocalBuffers& local_buffers);
  size_t peer_index(int pe, Port port) const noexcept {
    return static_cast<size_t>(pe) * ports_ + static_cast<size_t>(port);
  }
  fi_addr_t peer(int pe, Port port) const noexcept {
    const size_t index = peer_index(pe, port);
    return addresses_.empty() ? index : addresses_[index];
  }
  const RemoteRegion& region(const Remote& where) const noexcept {
    const auto segment = static_cast<size_t>(where.segment);
    if (segment >= kSegments) [[unlikely]]
      return (*peers_pieces_)[segment - kSegments][static_cast<size_t>(where.pe)];
    return regions_[static_cast<size_t>(where.pe) * kSegments + segment];
  }
  bool is_on_device(const std::byte* local) const noexcept {
    return reinterpret_cast<uintptr_t>(local) - device_base_ < device_nbytes_;
  }
  /// The descriptor of local memory on the device; 0 or an errno value.
  int describe_piece(const std::byte* local, size_t nbytes, void*& desc) const noexcept;
  Post posted(ssize_t rc, int pe, const OpSlot* slot) noexcept;
  Post refused(int pe) noexcept;
  Post fail(int error) noexcept;
  /// Turns what the queue gave into events, at most as many; returns how many.
  size_t hand_out(std::span<const fi_cq_msg_entry> entries, std::span<RailEvent> events) noexcept;
  size_t poll_drained(std::span<RailEvent> events) noexcept;
  RailEvent event_of(const fi_cq_msg_entry& entry) noexcept;
  size_t poll_error(RailEvent& event, ssize_t rc) noexcept;

  // What every post reads.
  size_t outstanding_ = 0;
  size_t max_outstanding_ = 0;
  size_t ports_ = 0;
  size_t npeers_ = 0;  ///< endpoints that were connected
  std::span<const RemoteRegion> regions_;
  uintptr_t device_base_ = 0;  ///< of the device heap, where rails reach it; else it has no bytes
  size_t device_nbytes_ = 0;
  const std::vector<std::vector<RemoteRegion>>* peers_pieces_ = nullptr;
  /// Empty as long as the provider numbers its addresses in the order of insertion, which FI_AV_TABLE means.
  std::vector<fi_addr_t> addresses_;
  RailTraits traits_{};
  int last_error_ = 0;
  int wait_fd_ = -1;
  Quirks quirks_;
  uint64_t copied_send_ = FI_INJECT;  ///< flag of a send that is copied at once
  OpSlot nobody_;                     ///< completes messages without a slot where those are counted
  /// Where quirks_.drains: what the last look at the queue gave, of which [drained_next_, drained_end_) is to be told.
  std::vector<fi_cq_msg_entry> drained_;
  size_t drained_next_ = 0;
  size_t drained_end_ = 0;
  int stuck_pe_ = -1;  ///< the peer that refused the last post, since stuck_since_ns_; -1 none
  uint64_t stuck_since_ns_ = 0;
  uint64_t timeout_ns_ = 0;
  std::string name_;

  // Reverse destruction is the order that libfabric requires.
  Info info_;
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  Fid<fid_cq> cq_;
  Fid<fid_av> av_;
  ReceivePool receives_;     // outlives the endpoint that its buffers are posted on
  Fid<fid_mr> receives_mr_;  // only under FI_MR_LOCAL
  Fid<fid_ep> ep_;
  std::vector<MemoryRegion> segments_;  // may be bound to the endpoint: closed before it
  std::vector<MemoryRegion> pieces_;    // likewise: of the device heap
  LocalMemory local_;
};

static_assert(railshmem::Rail<Rail>);

}  // namespace railshmem::ofi
