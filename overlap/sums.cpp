// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/sums.h"

#include <algorithm>

#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

constexpr unsigned kThreads = 512;
// Two blocks for each multiprocessor of an H100: loads in flight that fill its memory's bandwidth.
constexpr uint64_t kMostBlocks = 264;
constexpr uint64_t kElementsOfThread = 8;

}  // namespace

Sums::Sums() {
  const std::span<const std::byte> image = sum_kernels();
  if (image.empty())
    throw Error(
        "this library was built without nvcc, so it has no kernel that adds up; build it where the CUDA toolkit is");
  must(driver().module_load(&module_, image.data()), "cuModuleLoadData");
  must(driver().module_function(&sum_, module_, "railshmem_overlap_sum"), "cuModuleGetFunction");
}

Sums::~Sums() {
  if (module_ != nullptr) driver().module_unload(module_);
}

void Sums::give(const SumCall& call, Stream stream) const {
  const uint64_t wanted = (call.nelems + kThreads * kElementsOfThread - 1) / (kThreads * kElementsOfThread);
  const auto blocks = static_cast<unsigned>(std::clamp<uint64_t>(wanted, 1, kMostBlocks));
  SumCall copy = call;
  void* parameters[] = {&copy};
  must(driver().launch(sum_, blocks, 1, 1, kThreads, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
}

}  // namespace railshmem::overlap
