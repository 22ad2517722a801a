// SPDX-License-Identifier: BSD-3-Clause
// One libfabric endpoint with everything it owns, used by one thread at a time.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/shm_files.h"
#include "src/plugin/rail.h"
#include "transports/ofi/fid.h"
#include "transports/ofi/local_descriptors.h"
#include "transports/ofi/memory_region.h"
#include "transports/ofi/nic.h"
#include "transports/ofi/quirks.h"
#include "transports/ofi/receive_pool.h"
#include "transports/ofi/stuck_peers.h"

namespace railshmem::ofi {

struct RailSetup {
  size_t npes;
  /// How many endpoints of a peer this rail reaches, from the first Port on: all for a rail of Port::proxy, else 1.
  size_t ports;
  size_t operations;  ///< most operations in flight, so that the completion queue cannot overrun
  /// Whether somebody may sleep on this rail. A queue with a descriptor costs a system call per event on some
  /// providers.
  bool sleeps;
  uint64_t timeout_ns;          ///< time after which a peer that takes no post is lost
  LocalBuffers* local_buffers;  ///< shared by the PE's rails; outlives them
};

class Rail {
 public:
  Rail(const Nic& nic, const RailSetup& setup);

  // ---- set-up, in this order ----------------------------------------------------------------------------------
  /// Registers the segments for peers; returns what the peers need, in SegmentId order. A rail that is nobody's target
  /// calls add_local() instead, which registers only where the provider wants local buffers registered.
  std::vector<RemoteRegion> expose(std::span<const Segment> segments);
  void add_local(std::span<const Segment> segments);
  /// Addresses of this PE's device heap, from which no rail copies.
  void use_device_heap(std::span<const std::byte> addresses) noexcept;
  /// Registers memory of this PE's device heap, for peers and as a local buffer.
  RemoteRegion add_extent(const Memory& memory);
  /// Undoes the last add_extent().
  void drop_extent() noexcept { extents_.pop_back(); }
  /// The endpoint's address in the provider's own format.
  std::vector<std::byte> address() const;
  /// Takes npes * ports addresses back to back, PE by PE; the peers' regions by [pe * kSegments + segment]; and the
  /// regions of their device heaps by extent and PE, to which the caller may add. The caller keeps both tables alive.
  void connect(std::span<const std::byte> addresses, std::span<const RemoteRegion> regions,
               const std::vector<std::vector<RemoteRegion>>* extents = nullptr);

  // ---- after a failure; in the thread that owns the rail ---------------------------------------------------------
  /// Sends operations to an endpoint that a peer opened anew. Operations posted to the old endpoint end later or never.
  /// The caller replaces the peer's entries in the table of regions.
  void readdress(int pe, Port port, std::span<const std::byte> address);
  /// Closes the endpoint with operations in flight. None of them touches memory any more, here or at a peer. Their
  /// unsent data is discarded; otherwise the kernel would send it when the link is back. Until the rail is opened
  /// again, every post with a slot returns `again`; posts without a slot must not be tried.
  void close() noexcept;
  bool is_open() const noexcept { return ep_ != nullptr; }
  /// Discards unsent data, as the first step of close(). Returns the number of sockets that it found.
  size_t discard_unsent() const;
  /// Lets data and connection attempts on dead paths to these PEs fail within `timeout_ms`, so that the next attempt
  /// finds a link that is back. 0: the paths live again. Works where the provider's connections are TCP sockets;
  /// returns their number.
  size_t limit_silence(std::span<const int> pes, unsigned timeout_ms) const;
  /// Ends the TCP connections to these PEs; returns their number.
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
      return (*peers_extents_)[segment - kSegments][static_cast<size_t>(where.pe)];
    return regions_[static_cast<size_t>(where.pe) * kSegments + segment];
  }
  bool is_on_device(const std::byte* local) const noexcept {
    return reinterpret_cast<uintptr_t>(local) - device_base_ < device_nbytes_;
  }
  /// The descriptor of local memory on the device; 0 or an errno value.
  int describe_extent(const std::byte* local, size_t nbytes, void*& desc) const noexcept;
  Post posted(ssize_t rc, int pe, const OpSlot* slot) noexcept;
  Post refused(int pe) noexcept;
  Post fail(int error) noexcept;
  /// Turns entries of the queue into events, at most one for each entry. Returns the number of events.
  size_t hand_out(std::span<const fi_cq_msg_entry> entries, std::span<RailEvent> events) noexcept;
  size_t poll_drained(std::span<RailEvent> events) noexcept;
  RailEvent event_of(const fi_cq_msg_entry& entry) noexcept;
  RailEvent failure_of(const fi_cq_err_entry& entry) noexcept;
  size_t poll_error(RailEvent& event, ssize_t rc) noexcept;

  // Every post reads the members from here.
  size_t outstanding_ = 0;
  size_t max_outstanding_ = 0;
  size_t ports_ = 0;
  size_t npeers_ = 0;  ///< endpoints that were connected
  std::span<const RemoteRegion> regions_;
  uintptr_t device_base_ = 0;  ///< of the device heap, where rails reach it; otherwise device_nbytes_ is 0
  size_t device_nbytes_ = 0;
  const std::vector<std::vector<RemoteRegion>>* peers_extents_ = nullptr;
  /// Empty as long as the provider numbers addresses in the order of insertion, as FI_AV_TABLE promises.
  std::vector<fi_addr_t> addresses_;
  RailTraits traits_{};
  int last_error_ = 0;
  int wait_fd_ = -1;
  Quirks quirks_;
  uint64_t copied_send_ = FI_INJECT;  ///< flag of a send that is copied at once
  OpSlot nobody_;                     ///< slot of messages without one, where such messages are counted
  /// Where quirks_.drains: entries of the last look at the queue. Those in [drained_next_, drained_end_) are still to
  /// be handed out.
  std::vector<fi_cq_msg_entry> drained_;
  size_t drained_next_ = 0;
  size_t drained_end_ = 0;
  StuckPeers stuck_;
  std::string name_;

  /// Of names in /dev/shm; shared by the rails of this process, because the last one to go gives it up.
  std::shared_ptr<const ShmClaim> claim_;
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
  std::vector<MemoryRegion> extents_;   // of the device heap; may be bound to the endpoint: closed before it
  LocalDescriptors local_;
};

static_assert(railshmem::Rail<Rail>);

}  // namespace railshmem::ofi
