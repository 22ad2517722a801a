// SPDX-License-Identifier: BSD-3-Clause
// Copies between a GPU's memory and the host's by its copy engines: staging for device heaps, and for providers that do
// not reach GPU memory. Needs no free multiprocessor: kernels that wait for these copies may fill the GPU.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "src/cuda/batch_lane.h"
#include "src/cuda/cpu_windows.h"
#include "src/cuda/pinned.h"
#include "src/cuda/pinned_bounce.h"
#include "src/cuda/word_stores.h"
#include "src/plugin/copier.h"

namespace railshmem::cuda {

/// With windows, the CPU itself stores short data and signals, and executes atomics, and is done when a call returns.
///
/// Has five streams: in and out, each for small and for large copies, and one for words. So a word waits behind
/// megabytes only if it belongs to them. A copy from or to memory that is not pinned (a user's buffer) may keep start()
/// busy until the copy has ended; the driver treats pageable memory so.
class CudaCopier final : public Copier {
 public:
  /// `heaps` is device memory, known without asking the driver. `bounce` and `windows` may be null. The copiers of one
  /// bounce area share `bounce`: its memory stays pinned until the last copier has waited for its copies. Throws Error.
  CudaCopier(const DeviceContext& gpu, std::span<const std::byte> heaps, std::shared_ptr<const PinnedBounce> bounce,
             std::shared_ptr<const CpuWindows> windows = nullptr);

  Ticket start(std::byte* to, const std::byte* from, size_t nbytes) noexcept override;
  /// Copy and word go into one stream, so nobody waits between them. A lone word of data is stored by the stream, too.
  Ticket start_then_set(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word,
                        uint64_t value) noexcept override;
  bool finished(Ticket ticket) noexcept override;
  /// Asks the driver each time: a memory of answers would have to notice freed and reused addresses, which takes a call
  /// just as long.
  bool alone_reaches(const std::byte* place) noexcept override;
  /// Reads the words, computes and writes them. This is atomic because only this PE's proxy changes such words, and
  /// only the proxy calls this (docs/memory_model.md). Returns when the new values are visible to everybody.
  void amos(std::span<WordAmo> amos) noexcept override;

 private:
  bool is_heap(const std::byte* place) const noexcept;
  bool is_bounce(const std::byte* place) const noexcept;
  bool is_device(const std::byte* place) const noexcept;
  const CpuWindow* window_of(const std::byte* place, size_t nbytes) const noexcept {
    return windows_ != nullptr ? windows_->find(place, nbytes) : nullptr;
  }
  bool moved_by_cpu(std::byte* to, const std::byte* from, size_t nbytes) const noexcept;
  bool set_by_cpu(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word, uint64_t value) const noexcept;
  bool goes_as_word(const std::byte* to, const std::byte* from, size_t nbytes) const noexcept;
  static size_t lane_for(bool in, size_t nbytes) noexcept;
  static Ticket ticket_of(size_t lane, uint64_t number) noexcept;
  size_t amos_together(std::span<WordAmo> amos) noexcept;
  void move_word(std::byte* to, const std::byte* from, uint8_t width, const std::byte* in_heap) noexcept;

  const DeviceContext& gpu_;
  const std::span<const std::byte> heaps_;
  const std::shared_ptr<const PinnedBounce> bounce_;
  const std::shared_ptr<const CpuWindows> windows_;  ///< null: the CPU reaches no GPU memory
  PinnedMemory words_;                               ///< where amos() computes: 8 bytes for each word
  std::array<BatchLane, 5>
      lanes_;  ///< index of two bits: out, large; or kWords for amos() and lone words, which wait for no large copy
  WordStores stores_;
};

/// Makes copiers of one GPU, which must outlive them. The first copier made for a bounce area pins the area
/// and those of neighbours. `windows`
/// may be null.
MakeCopier make_cuda_copiers(const DeviceContext& gpu, std::span<const std::byte> heaps,
                             std::shared_ptr<const CpuWindows> windows = nullptr);

}  // namespace railshmem::cuda
