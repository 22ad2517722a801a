// SPDX-License-Identifier: BSD-3-Clause
// The heap in the memory of this PE's GPU: whether there is one, and whose.
#pragma once

namespace railshmem::python {

/// Takes GPU number `current`, which is the current one, for the heap, where the heap is in device memory and has no
/// GPU yet; collective. Returns the number of the heap's GPU. RuntimeError where the heap is in host memory, or this PE
/// has no GPU.
int take_gpu(const char* function, int current);

/// RuntimeError unless the heap has its GPU, and so streams can carry calls. Local. Returns the number of that GPU
/// where take_gpu() has told it in this run of the library, else -1.
int require_device_heap(const char* function);

}  // namespace railshmem::python
