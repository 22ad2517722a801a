// SPDX-License-Identifier: BSD-3-Clause
// Allocations that CUDA graphs hold, as long as the graphs live.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "src/cuda/device.h"

namespace railshmem {

/// The graph that a stream is being captured into.
struct CapturedGraph {
  cuda::Graph graph = nullptr;
  uint64_t id = 0;  ///< of the capture; never used again in this process
};
/// That graph; nothing where what the stream is given runs, or where the driver does not tell. Needs Calls::graphs.
std::optional<CapturedGraph> find_captured_graph(const cuda::DeviceContext& gpu, cuda::Stream stream) noexcept;
/// Throws Error where the stream is not captured, or the driver does not tell.
CapturedGraph captured_graph(const cuda::DeviceContext& gpu, cuda::Stream stream);

/// What graphs let go is collected here. The driver tells of a graph's end in a thread that must not call the driver,
/// so that thread only leaves a note, also after this has gone.
class GraphHolds {
 public:
  /// `rung` is called after each note, by any thread; it must not block and not call the driver. It may be empty.
  explicit GraphHolds(std::function<void()> rung);
  GraphHolds(const GraphHolds&) = delete;
  /// From here on `rung` is not called any more. Notes of graphs that live on after the library go nowhere.
  void silence();

  /// Makes a graph a holder of the allocation of a number (SharedAllocation), until the graph and its instances are
  /// destroyed and their launches over. Throws Error, and then the graph holds nothing.
  void hold(const cuda::DeviceContext& gpu, cuda::Graph graph, uint64_t number);
  /// The numbers that were let go since the last call, once for each hold().
  std::vector<uint64_t> take_released();

 private:
  struct Notes {
    std::mutex mutex;
    std::function<void()> rung;
    std::vector<uint64_t> released;
  };
  struct Token {
    std::shared_ptr<Notes> notes;
    uint64_t number;  ///< 0: nothing is held
  };
  static void let_go(void* token);

  const std::shared_ptr<Notes> notes_;  // shared with graphs, which may outlive the library
};

}  // namespace railshmem
