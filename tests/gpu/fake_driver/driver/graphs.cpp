// SPDX-License-Identifier: BSD-3-Clause
// Graphs of the fake driver. A graph is what its streams were given, in that order, and a replay runs it in this order:
// one of those in which a GPU may run it.
#include "tests/gpu/fake_driver/driver/graphs.h"

#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
extern "C" {

Result cuStreamBeginCapture_v2(Stream handle, CaptureMode mode) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  if (handle == nullptr || stream->capture != nullptr) return kCaptureUnsupported;  // the legacy stream is refused
  stream->capture = std::make_shared<GraphObject>();
  s.graphs[stream->capture.get()] = stream->capture;
  s.capturing |= mode == CaptureMode::global;
  fake_thread().captures = mode != CaptureMode::relaxed;
  return kSuccess;
}

Result cuStreamEndCapture(Stream handle, Graph* graph) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  const FakeGraph captured = stream->capture;
  if (captured == nullptr) return kInvalidValue;
  for (const FakeStream& one : s.streams)
    if (one->capture == captured) one->capture = nullptr;
  s.capturing = false;
  fake_thread().captures = false;
  *graph = captured.get();
  return kSuccess;
}

Result cuGraphInstantiateWithFlags(GraphExec* executable, Graph graph, unsigned long long) {
  FAKE_CALL(context);
  const auto found = s.graphs.find(graph);
  if (found == s.graphs.end()) return kInvalidHandle;
  auto made = std::make_unique<GraphExecObject>(GraphExecObject{found->second});
  *executable = made.get();
  s.executables[made.get()] = std::move(made);
  return kSuccess;
}

Result cuGraphLaunch(GraphExec executable, Stream handle) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr || s.executables.count(executable) == 0) return kInvalidHandle;
  fake_give(s, stream, [last = executable->last] { return last.reached(); });
  for (const auto& make : executable->graph->work) fake_give(s, stream, make());
  executable->last.stream = stream;
  executable->last.until = stream->given;
  return kSuccess;
}

Result cuGraphExecDestroy(GraphExec executable) {
  FAKE_CALL(context);
  return s.executables.erase(executable) == 1 ? kSuccess : kInvalidHandle;
}

Result cuGraphDestroy(Graph graph) {
  FAKE_CALL(context);
  return s.graphs.erase(graph) == 1 ? kSuccess : kInvalidHandle;
}

}  // extern "C"
}  // namespace railshmem::cuda
