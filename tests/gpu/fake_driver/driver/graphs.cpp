// SPDX-License-Identifier: BSD-3-Clause
// Captures, graphs and user objects of the fake driver. A graph does its work in the order in which it was captured.
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

/// Runs the destructor in a thread of the driver's own, which may call none of its functions.
void release(FakeState& s, UserObject object, unsigned references) {
  object->references -= references;
  if (object->references > 0) return;
  s.user_objects.erase(object);
  s.destructors.emplace_back([object, late = std::chrono::milliseconds(s.options.notes_ms)] {
    std::this_thread::sleep_for(late);
    fake_thread().destroys = true;
    object->destroy(object->object);
    delete object;
  });
}

}  // namespace

FakeReferences::FakeReferences(const FakeReferences& other) : of(other.of) {
  for (const auto& [object, references] : of) object->references += references;
}
FakeReferences::~FakeReferences() {
  FakeState* const s = fake_state();
  if (s == nullptr || s->stopping) return;  // the driver is at its end
  for (const auto& [object, references] : of) release(*s, object, references);
}

extern "C" {

// Programs call these.
Result cuStreamBeginCapture_v2(Stream handle, CaptureMode mode) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  if (handle == nullptr || stream->capture != nullptr) return kCaptureUnsupported;
  const auto graph = new GraphObject;
  s.graphs.insert(graph);
  stream->capture = std::make_shared<FakeCapture>(FakeCapture{++s.last_capture, handle, graph, mode});
  s.capturing |= mode == CaptureMode::global;
  return kSuccess;
}
Result cuStreamEndCapture(Stream handle, Graph* graph) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr || stream->capture == nullptr || stream->capture->origin != handle) return kInvalidHandle;
  const std::shared_ptr<FakeCapture> capture = stream->capture;
  for (const FakeStream& other : s.streams)
    if (other->capture == capture) other->capture = nullptr;
  s.capturing = std::any_of(s.streams.begin(), s.streams.end(), [](const FakeStream& other) {
    return other->capture != nullptr && other->capture->mode == CaptureMode::global;
  });
  capture->over = true;
  *graph = capture->graph;
  return kSuccess;
}
Result cuGraphDestroy(Graph graph) {
  FAKE_CALL(start);
  if (s.graphs.erase(graph) == 0) return kInvalidValue;
  delete graph;
  return kSuccess;
}
Result cuGraphInstantiateWithFlags(Graph* ready, Graph graph, unsigned long long) {
  FAKE_CALL(context);
  if (s.graphs.count(graph) == 0) return kInvalidValue;
  *ready = new GraphObject{graph->nodes, std::make_shared<FakeReferences>(*graph->references)};
  s.ready_graphs.insert(*ready);
  return kSuccess;
}
/// The references outlive the launch, also where the graph does not.
Result cuGraphLaunch(Graph ready, Stream handle) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr || s.ready_graphs.count(ready) == 0) return kInvalidHandle;
  fake_enter(call, stream->context);
  const std::vector<FakeNode> nodes = ready->nodes;
  for (const FakeNode& node : nodes) fake_give_node(s, stream, node);
  fake_give(s, stream, [held = ready->references] { return held != nullptr; });
  return kSuccess;
}
Result cuGraphExecDestroy(Graph ready) {
  FAKE_CALL(start);
  if (s.ready_graphs.erase(ready) == 0) return kInvalidValue;
  delete ready;
  return kSuccess;
}

Result cuStreamGetCaptureInfo_v2(Stream handle, int* status, uint64_t* id, Graph* graph, const GraphNode**, size_t*) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  *status = stream->capture != nullptr ? kCapturing : kCapturingNot;
  if (stream->capture == nullptr) return kSuccess;
  if (id != nullptr) *id = stream->capture->id;
  if (graph != nullptr) *graph = stream->capture->graph;
  return kSuccess;
}
Result cuUserObjectCreate(UserObject* object, void* what, void (*destroy)(void*), unsigned references, unsigned flags) {
  FAKE_CALL(start);
  if (destroy == nullptr || references == 0 || flags != kDestructorUnwatched) return kInvalidValue;
  if (s.user_objects.size() >= s.options.user_objects) return kOutOfMemory;
  *object = new UserObjectObject{what, destroy, references};
  s.user_objects.insert(*object);
  return kSuccess;
}
Result cuUserObjectRelease(UserObject object, unsigned references) {
  FAKE_CALL(start);
  if (s.user_objects.count(object) == 0 || references > object->references) return kInvalidValue;
  release(s, object, references);
  return kSuccess;
}
Result cuGraphRetainUserObject(Graph graph, UserObject object, unsigned references, unsigned flags) {
  FAKE_CALL(start);
  if (s.graphs.count(graph) == 0 || s.user_objects.count(object) == 0 || references == 0) return kInvalidValue;
  if (flags != kGraphTakesReference) object->references += references;
  graph->references->of[object] += references;
  return kSuccess;
}

}  // extern "C"
}  // namespace railshmem::cuda
