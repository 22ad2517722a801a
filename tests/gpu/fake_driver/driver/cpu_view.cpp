// SPDX-License-Identifier: BSD-3-Clause
// What the kernel module of GDRCopy does with the driver: shows the CPU memory of a GPU. The CPU finds it where copy
// engines do, which is elsewhere than at its own address when the memory is guarded.
#include "tests/gpu/fake_driver/driver/state.h"
#include "tests/gpu/fake_driver/gdrapi/fake_gdrapi.h"

extern "C" void* railshmem_fake_cpu_view(unsigned long address, size_t nbytes) {
  using namespace railshmem::cuda;
  FakeCall call(__func__, FakeNeeds::start);
  if (call.refused() != kSuccess || nbytes == 0) return nullptr;
  FakeState& s = call.state();
  if (!fake_is_device_memory(s, address) || !fake_is_device_memory(s, address + nbytes - 1)) return nullptr;
  return fake_bytes(s, address);
}
