// SPDX-License-Identifier: BSD-3-Clause
// Copies between a GPU's memory and the host's by its copy engines: staging for device heaps, and for providers that do
// not reach GPU memory. Needs no free multiprocessor: kernels that wait for these copies may fill the GPU.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "src/cuda/batch_lane.h"
#include "src/cuda/pinned.h"
#include "src/cuda/word_stores.h"
#include "src/plugin/copier.h"

namespace railshmem::cuda {

/// Five streams: in and out, small and large, and one for words, so that no word waits behind megabytes unless it
/// belongs to them. A copy that is no part of pinned memory (a user's buffer) may keep start() busy until it has ended;
/// that is the driver's way with pageable memory.
class CudaCopier final : public Copier {
 public:
  /// `heaps`: device memory, known without asking the driver. `bounce` may be null, or is shared by the copiers of one
  /// area: it stays pinned until the last of them has waited for its copies. Throws Error.
  CudaCopier(const DeviceContext& gpu, std::span<const std::byte> heaps, std::shared_ptr<HostRegistration> bounce);

  Ticket start(std::byte* to, const std::byte* from, size_t nbytes) noexcept override;
  /// Both in one stream: nobody waits in between.
  Ticket start_then_set(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word,
                        uint64_t value) noexcept override;
  bool finished(Ticket ticket) noexcept override;
  /// Asks the driver each time: to notice that an address was freed and given out anew takes a call of the same length.
  bool alone_reaches(const std::byte* place) noexcept override;
  /// Reads the words, computes and writes them: atomic because this PE's proxy, its only user, is the only one who
  /// changes such words (docs/memory_model.md). Returns when the new values are there for everybody.
  void amos(std::span<WordAmo> amos) noexcept override;

 private:
  bool is_heap(const std::byte* place) const noexcept;
  bool is_bounce(const std::byte* place) const noexcept;
  bool is_device(const std::byte* place) const noexcept;
  static size_t lane_for(bool in, size_t nbytes) noexcept;
  static Ticket ticket_of(size_t lane, uint64_t number) noexcept;
  size_t amos_together(std::span<WordAmo> amos) noexcept;
  void move_word(std::byte* to, const std::byte* from, uint8_t width, const std::byte* in_heap) noexcept;

  const DeviceContext& gpu_;
  const std::span<const std::byte> heaps_;
  const std::shared_ptr<HostRegistration> bounce_;
  PinnedMemory words_;  ///< where amos() computes: 8 bytes for each word
  std::array<BatchLane, 5>
      lanes_;  ///< two bits: out, large; or kWords, of amos() and of words alone, which wait for no bulk
  WordStores stores_;
};

/// Copiers of one GPU, which they borrow. Each bounce area is pinned by the first that is made for it.
MakeCopier make_cuda_copiers(const DeviceContext& gpu, std::span<const std::byte> heaps);

}  // namespace railshmem::cuda
