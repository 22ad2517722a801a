// SPDX-License-Identifier: BSD-3-Clause
// The job as a kernel sees it.
#ifndef SHMEM_DETAIL_WORLD_H
#define SHMEM_DETAIL_WORLD_H

#include <stdint.h>

#include <type_traits>

#include "shmem/detail/channel.h"
#include "shmem/detail/fault.h"
#include "shmem/detail/team.h"

namespace railshmem {

/// One symmetric memory. The memories of the node's PEs are mapped side by side, so a peer's address is arithmetic and
/// needs no table.
struct HeapView {
  unsigned char* mine = nullptr;
  uint64_t nbytes = 0;  ///< 0: there is no such memory
  /// Where the memory of the node's first PE is mapped. Null, possible in `other` only: only the network reaches it.
  unsigned char* on_node = nullptr;
  uint64_t stride = 0;  ///< from one PE's memory to the next one's
  /// Offsets at which the GPU itself updates words of mapped PEs atomically: all offsets where nobody else updates
  /// them; where remote PEs may, only the offsets that the program declared. Elsewhere the owner's proxy executes the
  /// updates.
  uint64_t atomics_offset = 0;
  uint64_t atomics_nbytes = 0;
  uint64_t segment = 0;  ///< SegmentId in commands
};

/// There are several copies of the job's error word, each for a few multiprocessors: a GPU reads one word of the host's
/// memory at most a million times a second (decision 0033).
inline constexpr uint32_t kErrorLines = 32;
inline constexpr uint32_t kErrorLineWords = 16;

/// Version of the layout of a view and of everything that it points to. A unit compiled with another version is
/// refused.
inline constexpr unsigned kWorldViewVersion = 6;

/// It is in constant memory, one copy for each unit of a program: a kernel reads the view without a load. npes 0: the
/// library is not running.
struct WorldView {
  /// First in every version, and in a module's constant from the start: the library reads it before it fills the rest.
  uint32_t version = kWorldViewVersion;
  /// Begins at a multiple of 8, so that a kernel loads the words from here on in pairs.
  alignas(8) int32_t pe = -1;
  int32_t npes = 0;
  int32_t first_pe = 0;   ///< of the node
  int32_t node_npes = 0;  ///< PEs [first_pe, first_pe + node_npes) are mapped
  HeapView heap = {};     ///< what shmem_malloc gives
  HeapView other = {};    ///< host memory beside a heap of the GPU's memory
  const ChannelView* channels = nullptr;
  uint32_t nchannels = 0;
  uint16_t context = 0;             ///< of commands on the default context
  uint16_t check = 0;               ///< compare whole ranges with the heap, not only where they begin
  uint64_t timeout_ns = 0;          ///< 0: waits end only by completion or error
  const uint64_t* error = nullptr;  ///< ChannelStatus of the job, in each of kErrorLines lines; may be null
  FaultRecord* fault = nullptr;     ///< may be null
  uint32_t* fault_taken = nullptr;  ///< 0 until a thread writes the record; in the GPU's memory
  const TeamRow* teams = nullptr;
  const ContextRow* contexts = nullptr;
  uint32_t nteams = 0;
  uint32_t ncontexts = 0;
  uint64_t control = 0;         ///< offset in `heap` of the memory of collectives (device_control.h)
  uint64_t control_nbytes = 0;  ///< 0: no control block, and no collectives of kernels
};
static_assert(std::is_trivially_copyable<WorldView>::value && std::is_standard_layout<WorldView>::value,
              "goes to the GPU");
static_assert(sizeof(WorldView) == 224, "a new layout is a new kWorldViewVersion");

/// A symmetric object of a PE.
struct HeapPlace {
  unsigned char* here;   ///< its address here; null: only the network reaches it
  uint64_t offset;       ///< in its heap
  const HeapView* heap;  ///< null: no symmetric address; `here` is then null too, or memory of the caller's own
};

RAILSHMEM_HD inline HeapPlace place_in(const WorldView& world, const HeapView& heap, uint64_t offset, int pe) {
  const uint32_t index = static_cast<uint32_t>(pe - world.first_pe);
  const bool mapped = index < static_cast<uint32_t>(world.node_npes) && heap.on_node != nullptr;
  return {mapped ? heap.on_node + index * heap.stride + offset : nullptr, offset, &heap};
}

/// Finds the object of `pe` whose address on this PE is `symmetric`.
RAILSHMEM_HD inline HeapPlace locate(const WorldView& world, const void* symmetric, int pe) {
  const auto* const at = static_cast<const unsigned char*>(symmetric);
  uint64_t offset = static_cast<uint64_t>(at - world.heap.mine);
  if (offset < world.heap.nbytes) return place_in(world, world.heap, offset, pe);
  offset = static_cast<uint64_t>(at - world.other.mine);
  if (offset < world.other.nbytes) return place_in(world, world.other, offset, pe);
  return {nullptr, 0, nullptr};
}

/// What a call for one PE reaches at `address`: what locate() finds. Of the calling PE it reaches any other memory as
/// well; such memory has no heap.
RAILSHMEM_HD inline HeapPlace reach(const WorldView& world, const void* address, int pe) {
  const HeapPlace place = locate(world, address, pe);
  if (place.heap != nullptr || pe != world.pe || pe < 0) return place;
  return {static_cast<unsigned char*>(const_cast<void*>(address)), 0, nullptr};
}

/// An object of a peer, if arithmetic alone finds it.
struct NearPlace {
  bool near;            ///< false: finding or using the object takes more than arithmetic
  unsigned char* here;  ///< its address here, if near
};

/// For what most calls are about: an object of the heap, and a PE of this node. Reads only the view's own words, which
/// are constants of a kernel; the address is computed beside the answer, not after it.
RAILSHMEM_HD inline NearPlace near_place(const WorldView& world, const void* symmetric, uint64_t nbytes, int pe) {
  const auto offset = static_cast<uint64_t>(static_cast<const unsigned char*>(symmetric) - world.heap.mine);
  const auto index = static_cast<uint32_t>(pe - world.first_pe);
  const bool near = index < static_cast<uint32_t>(world.node_npes) && offset < world.heap.nbytes &&
                    nbytes <= world.heap.nbytes - offset;
  return {near, reinterpret_cast<unsigned char*>(reinterpret_cast<uintptr_t>(world.heap.on_node) +
                                                 index * world.heap.stride + offset)};
}

/// near_place() for one element at a multiple of its size: heaps begin and end at pages, so the element ends inside the
/// heap that it begins in.
RAILSHMEM_HD inline NearPlace near_element(const WorldView& world, const void* symmetric, int pe) {
  const auto offset = static_cast<uint64_t>(static_cast<const unsigned char*>(symmetric) - world.heap.mine);
  const auto index = static_cast<uint32_t>(pe - world.first_pe);
  const bool near = index < static_cast<uint32_t>(world.node_npes) && offset < world.heap.nbytes;
  return {near, reinterpret_cast<unsigned char*>(reinterpret_cast<uintptr_t>(world.heap.on_node) +
                                                 index * world.heap.stride + offset)};
}

/// Whether everything at mapped PEs is done by loads, stores and atomics of the GPU.
RAILSHMEM_HD inline bool all_direct(const HeapView& heap) {
  return heap.atomics_offset == 0 && heap.atomics_nbytes >= heap.nbytes;
}

/// near_place() for a word that this GPU updates by its own atomics; not near where the word needs the owner's proxy.
RAILSHMEM_HD inline NearPlace near_word(const WorldView& world, const void* symmetric, uint64_t nbytes, int pe,
                                        bool declared) {
  const auto offset = static_cast<uint64_t>(static_cast<const unsigned char*>(symmetric) - world.heap.mine);
  const bool atomics = declared || offset - world.heap.atomics_offset < world.heap.atomics_nbytes;
  const NearPlace place = near_place(world, symmetric, nbytes, pe);
  return {place.near && atomics, place.here};
}

/// Whether this GPU's own instructions update a mapped object atomically. Memory outside the heaps has no other
/// updaters.
RAILSHMEM_HD inline bool has_direct_atomics(const HeapPlace& place) {
  if (place.heap == nullptr) return place.here != nullptr;
  return place.here != nullptr && place.offset - place.heap->atomics_offset < place.heap->atomics_nbytes;
}

}  // namespace railshmem

#endif
