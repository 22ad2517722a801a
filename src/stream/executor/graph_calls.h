// SPDX-License-Identifier: BSD-3-Clause
// Calls of a CallList that graphs have captured.
#pragma once

#include <cstdint>

#include "src/gpu/graph_holds.h"

namespace railshmem {

class GraphCalls {
 public:
  /// Has the graph that the stream is captured into hold a call. Where the driver cannot, the call stays.
  void hold(const cuda::DeviceContext& gpu, cuda::Stream stream, uint32_t number) noexcept;
  /// Forgets the calls of graphs that are gone.
  template <class Calls>
  void sweep(Calls& calls) {
    for (const uint64_t number : holds_.take_released()) calls.forget(static_cast<uint32_t>(number));
  }

 private:
  GraphHolds holds_{nullptr};
};

/// A millisecond.
void pause_for_graphs() noexcept;

/// Waits until `gone()`, but not for long: the driver tells of a graph's end in a thread of its own, some time later.
/// Returns what gone() gave last.
template <class Gone>
bool await_graphs(Gone&& gone) noexcept {
  constexpr int kPauses = 100;
  for (int i = 0; i < kPauses; ++i) {
    if (gone()) return true;
    pause_for_graphs();
  }
  return gone();
}

}  // namespace railshmem
