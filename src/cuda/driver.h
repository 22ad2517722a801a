// SPDX-License-Identifier: BSD-3-Clause
// The functions of the CUDA driver that the library calls. Loaded when a GPU is needed, never linked: the library
// starts where there is no driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/cuda/types.h"

namespace railshmem::cuda {

/// What functions are for. Those of a group are all there or, where the driver is too old for one, some are null.
enum class Calls : uint8_t {
  core,
  contexts,
  memory,
  ipc,
  pools,
  graphs,
  copies,
  dma_buf,
  batches,
  words,
  flush,
  launch,
  library
};

/// One pointer per row of driver_calls.inc, null where the driver lacks the function. load_driver() answers only when
/// all of `core` (CUDA 11.4) is there; whoever uses another group asks need() or has() once.
struct Driver {
#define CALL(member, group, symbol, since, ...) Result (*member)(__VA_ARGS__) = nullptr;
#include "src/cuda/driver_calls.inc"
#undef CALL
};

/// libcuda.so.1 of this machine, initialised; nothing if it has none. Stays loaded.
std::optional<Driver> load_driver();

/// Whether the program has loaded it, linked or opened by itself.
bool driver_is_loaded() noexcept;

bool has(const Driver& driver, Calls group) noexcept;
/// Throws Error when a function of the group is missing: "the CUDA driver here (11.2) is too old for a device heap: it
/// lacks cuMemCreate, which came with 10.2; ..." `purpose`: "a device heap". `otherwise`: how to do without.
void need(const Driver& driver, Calls group, const char* purpose, const char* otherwise = nullptr);

/// Of the driver: "13.0"
std::string version_text(int version);

}  // namespace railshmem::cuda
