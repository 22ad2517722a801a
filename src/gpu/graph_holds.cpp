// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/graph_holds.h"

#include <memory>
#include <utility>

#include "src/base/error.h"
#include "src/cuda/context_guard.h"

namespace railshmem {

std::optional<CapturedGraph> find_captured_graph(const cuda::DeviceContext& gpu, cuda::Stream stream) noexcept {
  const cuda::ContextGuard guard(gpu);
  CapturedGraph found;
  int status = cuda::kCapturingNot;
  // The legacy default stream refuses while another stream, which it would wait for, is captured. It runs nothing then.
  const cuda::Result result = gpu.driver().capture_info(stream, &status, &found.id, &found.graph, nullptr, nullptr);
  if (result != cuda::kSuccess || status != cuda::kCapturing) return std::nullopt;
  return found;
}

CapturedGraph captured_graph(const cuda::DeviceContext& gpu, cuda::Stream stream) {
  need(gpu.driver(), cuda::Calls::graphs, "buffers that graphs keep registered");
  const cuda::ContextGuard guard(gpu);
  CapturedGraph found;
  int status = cuda::kCapturingNot;
  gpu.check(gpu.driver().capture_info(stream, &status, &found.id, &found.graph, nullptr, nullptr),
            "cuStreamGetCaptureInfo");
  if (status != cuda::kCapturing || found.graph == nullptr)
    throw Error("the stream is not being captured into a graph, or its capture has failed");
  return found;
}

GraphHolds::GraphHolds(std::function<void()> rung) : notes_(std::make_shared<Notes>()) {
  notes_->rung = std::move(rung);
}

void GraphHolds::silence() {
  const std::lock_guard held(notes_->mutex);
  notes_->rung = nullptr;
}

void GraphHolds::hold(const cuda::DeviceContext& gpu, cuda::Graph graph, uint64_t number) {
  const cuda::ContextGuard guard(gpu);
  const cuda::Driver& driver = gpu.driver();
  auto token = std::make_unique<Token>(Token{notes_, number});
  cuda::UserObject object = nullptr;
  gpu.check(driver.object_create(&object, token.get(), let_go, 1, cuda::kDestructorUnwatched), "cuUserObjectCreate");
  Token* const given = token.release();  // let_go() deletes it
  const cuda::Result result = driver.graph_retain_object(graph, object, 1, cuda::kGraphTakesReference);
  if (result == cuda::kSuccess) return;
  given->number = 0;  // the driver runs let_go() only from here on
  gpu.log_failure(driver.object_release(object, 1), "cuUserObjectRelease");
  gpu.check(result, "cuGraphRetainUserObject");
}

void GraphHolds::let_go(void* token) {
  const std::unique_ptr<Token> mine(static_cast<Token*>(token));
  if (mine->number == 0) return;
  const std::lock_guard held(mine->notes->mutex);
  mine->notes->released.push_back(mine->number);
  if (mine->notes->rung) mine->notes->rung();
}

std::vector<uint64_t> GraphHolds::take_released() {
  const std::lock_guard held(notes_->mutex);
  return std::exchange(notes_->released, {});
}

}  // namespace railshmem
