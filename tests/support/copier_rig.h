// SPDX-License-Identifier: BSD-3-Clause
// A GPU of the fake driver with a heap, and what makes copiers of it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "src/base/cpu.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/cuda_copier.h"
#include "src/cuda/device_arena.h"
#include "src/cuda/device_copies.h"
#include "tests/gpu/fake_driver/fake_driver.h"
#include "tests/gpu/fake_driver/gdrapi/fake_gdrapi.h"

namespace railshmem::cuda {

inline constexpr size_t kHeapNbytes = size_t{2} << 20;

/// How late copies are, and whether the CPU has a window on the heap.
struct CopierCase {
  unsigned late_us;
  bool window = false;
};

/// A GPU with a heap, and a bounce area.
struct CopierRig {
  /// no_words: streams write no words, so events tell what has ended.
  enum class DriverOf : uint8_t { today, no_words, cuda_11_4 };

  explicit CopierRig(unsigned late_us = 0, DriverOf driver = DriverOf::today)
      : fake({.late_us = late_us}),
        table(older(fake.driver(), driver)),
        gpu(DeviceContext::primary(table, 0)),
        arena(gpu, 1, kHeapNbytes),
        heap(arena.map_own(0, 0, PhysicalMemory::create(gpu, kHeapNbytes))),
        bounce(kHeapNbytes),
        make(make_cuda_copiers(gpu, {heap, kHeapNbytes})) {}
  explicit CopierRig(const CopierCase& how) : CopierRig(how.late_us) {
    if (!how.window) return;
    DeviceCopies copies(gpu);
    windows = std::make_shared<CpuWindows>(fake_gdr_api());
    windows->add(heap, kHeapNbytes, copies);
    make = make_cuda_copiers(gpu, {heap, kHeapNbytes}, windows);
  }

  static Driver older(Driver table, DriverOf driver) {
    if (driver == DriverOf::cuda_11_4) table.copy_batch_async = nullptr;
    if (driver != DriverOf::today) table.stream_word_ops = nullptr;
    return table;
  }

  FakeDriver fake;
  const Driver table;
  DeviceContext gpu;
  DeviceArena arena;
  std::byte* heap;
  std::vector<std::byte> bounce;
  std::shared_ptr<CpuWindows> windows;
  MakeCopier make;
};

inline void finish(Copier& copier, Copier::Ticket ticket) {
  const uint64_t began = now_ns();
  while (!copier.finished(ticket)) ASSERT_LT(now_ns() - began, 20'000'000'000u) << "a copy never ends";
}

}  // namespace railshmem::cuda
