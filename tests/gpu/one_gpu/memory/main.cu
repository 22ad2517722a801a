// SPDX-License-Identifier: BSD-3-Clause
// src/cuda on a real GPU: memory that is mapped and shared, copies that need no multiprocessor, and what they cost.
// Usage: memory_gpu_test. Exit 77: no GPU here. Every wait ends by itself.
#include "tests/gpu/one_gpu/memory/memory_gpu.h"
#include "tests/support/forked.h"

namespace railshmem::gpu_test {
namespace {

/// Asked in a process of its own: one that has called the driver must not fork.
int count_devices() {
  test::Forked child([](const test::Pipe& pipe) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
    pipe.tell(devices);
    return std::string();
  });
  int devices = 0;
  return child.pipe().hear(devices) ? devices : 0;
}

}  // namespace
}  // namespace railshmem::gpu_test

int main() {
  using namespace railshmem::gpu_test;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int devices = count_devices();
  if (devices == 0) {
    std::printf("SKIPPED: no GPU here\n");
    return 77;
  }
  try {
    test_processes(devices);  // first: it forks
    for (const auto test :
         {test_devices, test_mapping, test_pointers, test_copies, test_words_by_copier, test_amo_on_a_full_gpu,
          test_copies_beside_waiting_kernels, test_copies_beside_a_capture, measure_copies})
      test();
  } catch (const railshmem::Error& e) {
    std::printf("FAILED: %s (%s:%u)\n", e.what(), e.where().file_name(), e.where().line());
    ++failures;
  }
  std::printf(failures == 0 ? "PASSED\n" : "FAILED: %d checks\n", failures.load());
  return failures == 0 ? 0 : 1;
}
