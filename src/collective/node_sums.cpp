// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/node_sums.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace railshmem {
namespace {

/// Result and operand together stay in a first-level cache.
constexpr size_t kBlockBytes = size_t{16} << 10;

/// By the CPU. `out` may be one of the operands, so it is written only when all have been read.
void combine_here(const Reduction& job, std::span<const std::byte* const> operands, size_t nelems,
                  std::byte* out) noexcept {
  alignas(64) std::array<std::byte, kBlockBytes> sum;
  const size_t in_block = kBlockBytes / job.element;
  for (size_t first = 0; first < nelems; first += in_block) {
    const size_t n = std::min(in_block, nelems - first), at = first * job.element;
    const std::byte* left = operands[0] + at;
    for (size_t i = 1; i < operands.size(); ++i) {
      std::byte* const to = i + 1 == operands.size() ? out + at : sum.data();
      job.combine(to, left, operands[i] + at, n);
      left = to;
    }
    if (operands.size() == 1 && left != out + at) std::memcpy(out + at, left, n * job.element);
  }
}

}  // namespace

NodeSums::Ticket NodeSums::of_members(size_t at, size_t nelems, std::byte* out) noexcept {
  std::vector<const std::byte*> operands;
  for (const int member : team_.nodes.members) operands.push_back(source_.of(team_, member) + at);
  const bool multiplies = job_.scaling == Scaling::factor;
  return combine(operands, nelems, out, multiplies ? Scaling::factor : Scaling::none, job_.factor);
}

NodeSums::Ticket NodeSums::of_nodes(std::span<const std::byte* const> results, size_t nelems, std::byte* out) noexcept {
  const bool divides = job_.scaling == Scaling::average;
  return combine(results, nelems, out, divides ? Scaling::quotient : Scaling::none, team_.size());
}

NodeSums::Ticket NodeSums::combine(std::span<const std::byte* const> operands, size_t nelems, std::byte* out,
                                   Scaling scaling, double factor) noexcept {
  if (memory_ == Memory::device) return on_device(operands, nelems, out, scaling, factor);
  combine_here(job_, operands, nelems, out);
  return DeviceQueue::kDone;
}

/// A kernel takes so many operands; more of them are combined with the result so far, one kernel after the other.
NodeSums::Ticket NodeSums::on_device(std::span<const std::byte* const> operands, size_t nelems, std::byte* out,
                                     Scaling scaling, double factor) noexcept {
  Ticket last = DeviceQueue::kDone;
  for (size_t done = 0; done < operands.size();) {
    DeviceReduction part{};
    part.op = job_.op;
    part.kind = job_.kind;
    part.nelems = nelems;
    if (done > 0) part.operands[part.noperands++] = out;
    while (done < operands.size() && part.noperands < DeviceReduction::kMost)
      part.operands[part.noperands++] = operands[done++];
    if (scaling == Scaling::factor || done == operands.size()) part.scaling = scaling;
    part.factor = factor;
    part.results[part.nresults++] = out;
    last = background_.reduce(part);
  }
  return last;
}

}  // namespace railshmem
