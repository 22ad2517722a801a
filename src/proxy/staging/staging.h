// SPDX-License-Identifier: BSD-3-Clause
// Staging: how memory that rails cannot reach is reached (MemoryKind::staged).
//
//   put   source: copy to a slot of mine ── "fetch it" ──▶ target: reads the slot into one of its own, copies it to the
//                 final memory, executes the signal, acknowledges; then my slot is free
//   get   source: takes a slot ── "bring it" ──▶ target: copies to a slot of its own, writes it into mine, replies;
//                 then I copy it to the destination
//   Where the peer's area is mapped (NeighbourAreas), the target copies from, and to, my slot itself.
//
// So each side takes slots of its own only, and nobody reserves anything at a peer. Short data travels inside the
// messages. Requests are numbered, acknowledged and repeated like all others (Requests), which makes staging survive
// the death of rails. Source: StagedTransfers; target: StagedJobs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/unique.h"
#include "src/observe/observer.h"
#include "src/plugin/copier.h"
#include "src/plugin/rail.h"
#include "src/plugin/segment.h"
#include "src/proxy/rails/tuning.h"
#include "src/proxy/staging/bounce_pool.h"
#include "src/proxy/staging/neighbour_areas.h"
#include "src/proxy/staging/staging_terms.h"

namespace railshmem {

/// What one user works with. Each port and the target have one, so that none waits for another.
struct StagingPart {
  std::span<const Segment> segments;  ///< of this PE, as the program knows them
  SegmentId bounce;                   ///< under which rails know the area
  std::span<std::byte> area;
  std::span<std::byte> payloads;  ///< the part of the area into which kernels store what they put
  std::unique_ptr<Copier> copier;
  std::array<BouncePool, kSlotKinds> pools;
  observe::Observer* observer = nullptr;  ///< null: nobody records
  const NeighbourAreas* neighbours = nullptr;
  std::span<const uint64_t> peers_areas{};  ///< bytes of each PE's area; empty: they are not known

  BouncePool& pool(SlotKind kind) noexcept { return pools[static_cast<size_t>(kind)]; }
  const BouncePool& pool(SlotKind kind) const noexcept { return pools[static_cast<size_t>(kind)]; }
  uint64_t ticks() const noexcept { return observer != nullptr ? observer->ticks() : 0; }
  /// A copy that began at ticks() is over.
  void copied(uint64_t began, size_t nbytes) const noexcept {
    if (observer != nullptr) [[unlikely]]
      record(began, nbytes);
  }
  [[gnu::cold]] void record(uint64_t began, size_t nbytes) const noexcept;
  /// Of the slot for so many bytes that do not travel inside a message.
  SlotKind kind_for(size_t nbytes) const noexcept {
    return nbytes <= pool(SlotKind::medium).slot_nbytes() ? SlotKind::medium : SlotKind::large;
  }
  /// The longest piece.
  size_t longest() const noexcept { return pool(SlotKind::large).slot_nbytes(); }
  std::byte* at(uint64_t slot) const noexcept { return area.data() + slot; }
  /// Where a peer's slot is mapped here; null: only rails reach it.
  std::byte* at_neighbour(int pe, uint64_t slot, size_t nbytes) const noexcept {
    return neighbours != nullptr ? neighbours->at(pe, slot, nbytes) : nullptr;
  }
  /// Whether a peer can have a slot there.
  bool may_have_slot(int pe, uint64_t slot, size_t nbytes) const noexcept {
    if (peers_areas.empty()) return true;
    const uint64_t size = peers_areas[static_cast<size_t>(pe)];
    return slot <= size && nbytes <= size - slot;
  }
  bool stages(SegmentId id) const noexcept {
    const auto index = static_cast<size_t>(id);
    for (const Segment& segment : segments)
      if (static_cast<size_t>(segment.id) == index) return segment.kind == MemoryKind::staged;
    return false;
  }
  /// Whether this is data of a kernel's put that is in the area already.
  bool is_payload(const void* address) const noexcept {
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(payloads.data()) < payloads.size();
  }
  /// Whether rails cannot reach this address of this PE: in a staged segment, or the program's own device memory.
  bool holds(const void* address) const noexcept {
    if (is_payload(address)) return false;  // asking the copier takes a call of the driver
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (const Segment& segment : segments)
      if (at - reinterpret_cast<uintptr_t>(segment.base) < segment.nbytes) return segment.kind == MemoryKind::staged;
    return copier->alone_reaches(static_cast<const std::byte*>(address));
  }
};

/// The bounce area of one PE and its parts.
class Staging {
 public:
  static bool is_needed(std::span<const Segment> segments) noexcept;
  /// Of the large slots: SHMEM_STAGING_CHUNK in whole pages.
  static size_t slot_nbytes(const Tuning& tuning) noexcept;
  /// Throws Error.
  /// `payload_nbytes`: of payloads().
  Staging(std::span<const Segment> segments, const MakeCopier& make_copier, const Tuning& tuning, size_t rails,
          size_t ports = ports_with(1), observe::Observer* observer = nullptr, size_t payload_nbytes = 0);
  ~Staging();
  Staging(const Staging&) = delete;

  /// Adds what peers must know to map the area.
  void describe_to(StagingTerms& terms) const;
  /// By PE, as describe_to() made them. Before anything is staged.
  void learn_areas(std::span<const StagingTerms> by_pe);
  /// Maps the areas of other PEs of this host, where that is possible. Before anything is staged.
  void meet_neighbours(std::span<const StagingTerms> by_pe, int me);

  /// What the fabric may know: the area in place of the first staged segment, nothing in place of others.
  std::span<const Segment> exposed() const noexcept { return exposed_; }
  /// Whether rails know the area in place of this segment.
  bool stands_for(SegmentId id) const noexcept { return parts_[0]->bounce == id; }
  /// Of a cache line of the area that is in no slot: what a flush of the rails reads and writes.
  uint64_t spare_offset() const noexcept { return spare_; }
  StagingPart& source(Port port) noexcept { return *parts_[static_cast<size_t>(port)]; }
  StagingPart& target() noexcept { return *parts_.back(); }
  /// Where kernels store data of their puts: rails know it, and it begins at a page. All zero until kernels store.
  std::span<std::byte> payloads() const noexcept { return parts_[0]->payloads; }
  std::string describe() const;

 private:
  const std::vector<Segment> segments_;
  const MakeCopier make_copier_;
  std::vector<Segment> exposed_;
  UniqueFd file_;  ///< of the area; empty: the area has no file
  std::byte* area_ = nullptr;
  size_t nbytes_ = 0;
  uint64_t spare_ = 0;
  std::vector<uint64_t> peers_areas_;
  std::optional<NeighbourAreas> neighbours_;         // outlives the copiers of the parts
  std::vector<std::unique_ptr<StagingPart>> parts_;  ///< by port, then the target's
};

}  // namespace railshmem
