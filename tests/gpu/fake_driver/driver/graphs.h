// SPDX-License-Identifier: BSD-3-Clause
// Capture and replay, which programs call and the library does not.
#pragma once

#include "src/cuda/types.h"

namespace railshmem::cuda {

using Graph = struct GraphObject*;
using GraphExec = struct GraphExecObject*;

extern "C" {
Result cuStreamBeginCapture_v2(Stream stream, CaptureMode mode);
Result cuStreamEndCapture(Stream stream, Graph* graph);
Result cuGraphInstantiateWithFlags(GraphExec* executable, Graph graph, unsigned long long flags);
Result cuGraphLaunch(GraphExec executable, Stream stream);
Result cuGraphExecDestroy(GraphExec executable);
Result cuGraphDestroy(Graph graph);
}

}  // namespace railshmem::cuda
