// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program allocated on this GPU, as other processes of the host can get at it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "src/base/fd_offers.h"
#include "src/cuda/physical_memory.h"
#include "src/cuda/pointer_info.h"

namespace railshmem::cuda {

/// ipc: a block of cudaMalloc. fd, fabric: memory of cuMemCreate. pool: an allocation of cudaMallocAsync's.
enum class ShareBy : uint8_t { ipc, fd, fabric, pool };
/// "cudaMalloc memory"
const char* name_of(ShareBy by) noexcept;

/// What another process needs to map one extent. Plain bytes.
struct ShareDescriptor {
  uint64_t nbytes = 0;
  uint64_t pool = 0;                   ///< pool: its number in the owner; one pool is imported once
  FdTicket fd;                         ///< fd: of the extent. pool: of the whole pool
  std::array<std::byte, 64> handle{};  ///< ipc, fabric, pool: what the driver calls so
};
static_assert(std::is_trivially_copyable_v<ShareDescriptor> && sizeof(ShareDescriptor) == 168);

/// One allocation or, of virtual memory, the mappings that a range is in. Memory of cuMemCreate lives on as long as
/// this does; other memory is the program's to keep. Move-only.
class ShareableMemory {
 public:
  /// Throws Error where [address, address + nbytes) is no memory of this GPU's from end to end, in one allocation, or
  /// cannot be shared: then it says how to allocate such.
  static ShareableMemory find(const DeviceContext& gpu, const void* address, size_t nbytes);

  ShareBy by() const noexcept { return by_; }
  Address start() const noexcept { return extents_.front().start; }
  size_t nbytes() const noexcept { return extents_.back().start + extents_.back().nbytes - start(); }
  size_t nextents() const noexcept { return extents_.size(); }
  bool holds(Address address, size_t size) const noexcept {
    return address - start() < nbytes() && size <= nbytes() - (address - start());
  }
  /// Whether the driver still has this very memory at a range that holds() it. Costs a look for each extent of the
  /// range.
  bool intact(Address address, size_t size) const noexcept;
  /// Descriptors for `count` extents from number `first` on, good as long as `offered` lives. Throws Error.
  std::vector<ShareDescriptor> descriptors(size_t first, size_t count, FdOffers& offers,
                                           std::vector<FdOffer>& offered) const;

 private:
  struct Extent {
    Address start;
    size_t nbytes;
    MemoryId id;
  };
  explicit ShareableMemory(const DeviceContext& gpu) noexcept : gpu_(&gpu) {}
  void take_virtual(void* address, size_t nbytes);
  void take_block(Address address, size_t nbytes);
  void take_pool_memory(Address address, size_t nbytes, Pool pool);
  void take_allocation(Address address, size_t nbytes);
  UniqueFd export_pool() const;

  const DeviceContext* gpu_;
  ShareBy by_ = ShareBy::ipc;
  std::vector<Extent> extents_;           ///< ascending, without gaps
  std::vector<PhysicalMemory> physical_;  ///< fd, fabric: of each extent
  IpcHandle ipc_{};
  Pool pool_ = nullptr;
};

}  // namespace railshmem::cuda
