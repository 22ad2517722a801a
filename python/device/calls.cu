// SPDX-License-Identifier: BSD-3-Clause
// The device functions as a library for compilers of kernels that read LLVM's bitcode (librailshmem_device.bc, by
// clang) or NVIDIA's LTO-IR (librailshmem_device.ltoir, by nvcc): an index of its families.
// cmake/RailshmemBitcode.cmake says how it is compiled.
#if defined(__clang__)
#include "python/device/clang_builtins.h"
#else
#undef __CUDACC_RDC__  // the view is one, under its name, for all that is linked into a kernel
#endif

#include "python/device/order.h"
#include "python/device/queries.h"
#include "python/device/signals.h"
#include "python/device/transfers.h"
#include "python/device/words.h"
