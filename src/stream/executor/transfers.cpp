// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/transfers.h"

#include <exception>
#include <utility>

#include "src/base/log.h"
#include "src/base/process.h"
#include "src/cuda/context_guard.h"

namespace railshmem {
namespace {

// A kernel of one warp stores so many bytes into payload slots, or reads them from one, without a copy engine, and need
// not stay until a put has arrived (docs/decisions/0044).
constexpr uint64_t kBySlots = 16384;
constexpr uint32_t kMostCalls = 16384;  // kept at once, 4 bytes of pinned memory each
constexpr size_t kAtOnce = 16;          // transfers under way; each has a context, of 16 bytes for each PE

}  // namespace

Transfers::Transfers(const cuda::DeviceContext& gpu, const cuda::DeviceContext& working_gpu, StreamSide& side,
                     PeState& state, std::function<void()> before_threads)
    : gpu_(gpu),
      working_gpu_(working_gpu),
      side_(side),
      state_(state),
      before_threads_(std::move(before_threads)),
      by_kernel_(state.network->payloads().empty() ? 0 : kBySlots),
      words_(std::make_unique<CallPage>(gpu, kMostCalls * sizeof(cuda::CallWord))) {}

Transfers::~Transfers() {
  if (!executor_) return;
  executor_->leave("shmem_finalize has been called");
  for (NetContext* const context : contexts_) state_.network->drop_context(context);
  const auto gone = [this] {
    graphs_.sweep(executor_->calls());
    return executor_->calls().empty();
  };
  if (await_graphs(gone)) return;
  log_warn(
      "streams have not come to all of their puts and gets, or graphs live on that captured some; let streams end, and "
      "destroy graphs, before shmem_finalize");
  g_process.kept.add(std::move(words_));  // streams may write them
  g_process.kept.add(std::move(executor_));
}

TransferExecutor& Transfers::executor() {
  const std::lock_guard lock(mutex_);
  if (executor_) return *executor_;
  before_threads_();
  while (contexts_.size() < kAtOnce) contexts_.push_back(state_.network->make_context());
  executor_ = std::make_unique<TransferExecutor>(
      TransferExecutor::Config{words_->host(), kMostCalls, state_.me, state_.spin.share_cpus,
                               [this] { cuda::adopt_thread(working_gpu_); }, &state_, contexts_});
  return *executor_;
}

bool Transfers::take(const char* function, const cuda::StreamCall& call, cuda::Stream stream) noexcept {
  if (!is_host_transfer(call) || call.nbytes <= by_kernel_ || !side_.has_words()) return false;
  try {
    return add({function, call}, stream);
  } catch (const std::exception& error) {
    die("%s: the library cannot run this call for the stream: %s", function, error.what());
  }
}

bool Transfers::add(const HostTransfer& transfer, cuda::Stream stream) {
  const bool captured = side_.is_captured(stream);
  // Launches of a graph that run at once may share one run of a call, so each launch would not add.
  if (captured && transfer.call.step == cuda::StreamStep::put_signal && transfer.call.code == SHMEM_SIGNAL_ADD)
    return false;
  TransferExecutor::Calls& calls = executor().calls();
  graphs_.sweep(calls);
  const uint32_t number = calls.add(transfer, captured ? Lifetime::replayed : Lifetime::once);
  if (number == 0) {
    log_debug("%s: streams and graphs keep %u calls for the host, so a kernel does this one", transfer.function,
              kMostCalls);
    return false;
  }
  // Without a lock: the driver makes the caller wait while the stream's queue is full.
  if (!side_.ask_host_by_words(words_->device() + number - 1, number, stream)) {
    calls.forget(number);
    return false;
  }
  if (captured) graphs_.hold(gpu_, stream, number);
  return true;
}

}  // namespace railshmem
