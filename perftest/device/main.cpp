// SPDX-License-Identifier: BSD-3-Clause
// shmem_gpu_perf: runs benches on GPUs by name and prints one row per scope and size.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "perftest/device/registry.h"
#include "perftest/device/run.h"
#include "perftest/harness/launcher.h"

namespace railshmem::perf::gpu {
namespace {

constexpr int kUsageError = 2;
constexpr int kNoGpu = 77;  // as tests say that they cannot run here

/// The message for the first unknown bench; empty when all are known.
std::string unknown(const Options& options) {
  for (const std::string& name : options.common.benches)
    if (find_bench(name) == nullptr)
      return "shmem_gpu_perf: there is no bench '" + name + "'; --list shows those of this build\n";
  return "";
}

void settle(Parsed& parsed) {
  if (parsed.exit_status) return;
  if (parsed.options.common.list) {
    parsed.exit_status = EXIT_SUCCESS;
    parsed.message = list_benches();
  } else if (parsed.message = unknown(parsed.options); !parsed.message.empty()) {
    parsed.exit_status = kUsageError;
  } else if (parsed.message = why_no_gpu(); !parsed.message.empty()) {
    parsed.exit_status = kNoGpu;
  }
}

int gpu_perf_main(int argc, char** argv) {
  Parsed parsed = parse_options(argc, argv);
  settle(parsed);
  if (parsed.exit_status) {
    if (is_first_process()) fputs(parsed.message.c_str(), *parsed.exit_status ? stderr : stdout);
    return *parsed.exit_status;
  }
  try {
    return run(parsed.options) ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& e) {
    // A kernel may still run, or other PEs wait for this one: no orderly end. The launcher ends the others; the first
    // has time to print its rows before that.
    fprintf(stderr, "shmem_gpu_perf: rank %d: %s\n", launched().rank.value_or(0), e.what());
    fflush(nullptr);
    if (!is_first_process()) std::this_thread::sleep_for(std::chrono::seconds(2));
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace
}  // namespace railshmem::perf::gpu

int main(int argc, char** argv) {
  return railshmem::perf::gpu::gpu_perf_main(argc, argv);
}
