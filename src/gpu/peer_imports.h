// SPDX-License-Identifier: BSD-3-Clause
// Allocations of the node's other PEs that this PE maps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/cuda/imported_memory.h"
#include "src/gpu/share_messages.h"

namespace railshmem {

/// A place in memory of a peer.
struct PeerPlace {
  int pe;
  uint64_t address;  ///< in that PE
  size_t nbytes;     ///< from there to the end of the allocation
};

/// import() and withdraw() are the mailbox thread's, the rest any thread's. The mailbox thread waits for no other,
/// since another one may wait for kernels (close_withdrawn), and these for the peer that asks.
class PeerImports {
 public:
  explicit PeerImports(const cuda::DeviceContext& gpu) noexcept : importer_(gpu) {}
  PeerImports(const PeerImports&) = delete;

  /// Maps more extents of a peer's allocation. What is mapped already stays where it is. Extents come in their order;
  /// the first one begins anew. Waits for no kernel.
  ImportAnswer import(const ImportRequest& request, std::span<const cuda::ShareDescriptor> descriptors) noexcept;
  /// Ends the import of a peer's allocation that no kernel uses any more. Returns false where the driver would wait for
  /// running kernels: then close_withdrawn() ends it.
  bool withdraw(int pe, uint64_t number) noexcept;
  /// Unmaps what withdraw() has left. The GPU should be idle: the driver waits until it is.
  void close_withdrawn() noexcept;
  bool has_withdrawn() const noexcept;

  /// Which memory of a peer is mapped at an address of this process; nothing where none is.
  std::optional<PeerPlace> place_of(const void* here) const noexcept;
  /// The address here of a range of a peer's memory; null where it is not mapped.
  std::byte* mapped(int pe, uint64_t address, size_t nbytes) const noexcept;
  size_t count() const noexcept;

 private:
  using Key = std::pair<int, uint64_t>;  ///< PE, number
  struct Import {
    uint64_t address = 0;
    size_t nbytes = 0;
    cuda::ShareBy by = cuda::ShareBy::fd;
    uint32_t extents = 0;  ///< mapped so far
    std::unique_ptr<cuda::ImportedMemory> memory;
    std::byte* here = nullptr;  ///< null until all extents are mapped
  };
  uint64_t map(const ImportRequest& request, std::span<const cuda::ShareDescriptor> descriptors);
  void add_extent(const Key& key, Import& import, const cuda::ShareDescriptor& descriptor);
  void keep(const Key& key, Import import);
  void withdraw_stale(int pe, uint64_t address, size_t nbytes);

  std::mutex work_;  ///< one thread maps and unmaps at a time; taken before books_. The mailbox thread only tries
  cuda::Importer importer_;
  std::map<Key, Import> begun_;  ///< with work_
  mutable std::mutex books_;     ///< never held while the driver works
  std::map<Key, Import> imports_;
  std::vector<std::pair<Key, Import>> withdrawn_;
};

}  // namespace railshmem
