// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets in stream order that the host runs: those for PEs that only the network reaches.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "src/plugin/network.h"
#include "src/stream/executor/call_page.h"
#include "src/stream/executor/graph_calls.h"
#include "src/stream/executor/transfer_executor.h"
#include "src/stream/host_calls.h"
#include "src/stream/stream_side.h"

namespace railshmem {

class Transfers final : public HostCalls {
 public:
  /// The thread works in the context of `working_gpu`; streams are of that of `gpu`. `before_threads` is called before
  /// the thread starts. All arguments outlive this. Throws Error.
  Transfers(const cuda::DeviceContext& gpu, const cuda::DeviceContext& working_gpu, StreamSide& side, PeState& state,
            std::function<void()> before_threads);
  Transfers(const Transfers&) = delete;
  /// Waits for the calls that run now. A stream that comes to a call later ends the job with a message.
  ~Transfers() override;

  bool take(const char* function, const cuda::StreamCall& call, cuda::Stream stream) noexcept override;

 private:
  bool add(const HostTransfer& transfer, cuda::Stream stream);
  TransferExecutor& executor();

  const cuda::DeviceContext& gpu_;
  const cuda::DeviceContext& working_gpu_;
  StreamSide& side_;
  PeState& state_;
  const std::function<void()> before_threads_;
  const uint64_t by_kernel_;  ///< a kernel does calls of at most so many bytes
  std::unique_ptr<CallPage> words_;
  GraphCalls graphs_;
  std::mutex mutex_;  ///< guards what is made by the first call
  std::vector<NetContext*> contexts_;
  std::unique_ptr<TransferExecutor> executor_;  ///< null until then
};

}  // namespace railshmem
