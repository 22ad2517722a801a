// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/graph_calls.h"

#include <time.h>

#include <exception>

#include "src/base/log.h"

namespace railshmem {

void GraphCalls::hold(const cuda::DeviceContext& gpu, cuda::Stream stream, uint32_t number) noexcept {
  try {
    holds_.hold(gpu, captured_graph(gpu, stream).graph, number);
  } catch (const std::exception& error) {
    log_debug("a captured call stays until the end of the library: %s", error.what());
  }
}

void pause_for_graphs() noexcept {
  constexpr timespec kPause{0, 1'000'000};
  nanosleep(&kPause, nullptr);
}

}  // namespace railshmem
