// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process, mapped here for this GPU: ShareableMemory's other end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "src/base/error.h"
#include "src/cuda/shareable_memory.h"

namespace railshmem::cuda {

/// Addresses of a process whose freed block is still open here.
class StaleBlock : public Error {
  using Error::Error;
};

/// Gives the memory back when destroyed. For an `ipc` block and for memory of a pool the driver then waits for all
/// kernels of this process, and holds up later launches meanwhile: see waits_for_kernels().
class ImportedMemory {
 public:
  virtual ~ImportedMemory() = default;
  /// Maps the next extent. Throws Error, or StaleBlock.
  virtual void add(const ShareDescriptor& descriptor) = 0;
  /// Where the first extent is; null before.
  virtual std::byte* base() const noexcept = 0;
};

/// Whether the end of such an import waits for kernels. Nobody whose answer a kernel may wait for ends one.
constexpr bool waits_for_kernels(ShareBy by) noexcept {
  return by == ShareBy::ipc || by == ShareBy::pool;
}

class ImportedPool;

/// Makes imports. One thread at a time.
class Importer {
 public:
  explicit Importer(const DeviceContext& gpu) noexcept : gpu_(gpu) {}
  Importer(const Importer&) = delete;

  /// For `nbytes` in all, of a process that errors call `whose` ("PE 3"). Throws Error.
  std::unique_ptr<ImportedMemory> begin(ShareBy by, size_t nbytes, const std::string& whose);

 private:
  friend class PooledMemory;
  /// A process imports a pool once. Shared by the allocations of the pool.
  std::shared_ptr<ImportedPool> pool_of(const ShareDescriptor& descriptor, const std::string& whose);

  const DeviceContext& gpu_;
  std::map<std::pair<int64_t, uint64_t>, std::weak_ptr<ImportedPool>> pools_;  ///< by process and number there
};

}  // namespace railshmem::cuda
