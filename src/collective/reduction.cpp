// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/reduction.h"

#include <cstring>
#include <utility>

#include "src/base/log.h"
#include "src/collective/operand.h"
#include "src/collective/operand_stream.h"

namespace railshmem {

void must_be_plain(const Reduction& job) noexcept {
  if (is_plain(job)) return;
  die("%s: this operation or type goes between nodes in chunks only, and there is no room for them: more teams than "
      "the "
      "library has scratch slots for use such reductions, or GPUs of a node do not reach each other; destroy teams "
      "that are not "
      "needed, or reduce float with a plain operation",
      job.function);
}

Part part_of(size_t n, size_t element, int index, int parts) noexcept {
  const size_t line = sizeof(FlagLine) / element;
  const size_t share = align_up((n + static_cast<size_t>(parts) - 1) / static_cast<size_t>(parts), line);
  const size_t first = std::min(n, share * static_cast<size_t>(index));
  return {first, std::min(share, n - first)};
}

void deliver(Team& team, const Reduction& job, int to, Part part) noexcept {
  std::byte* const block = job.dest + part.first * job.element;
  put_nbi(team.state, team.context, job.function, block, block, part.count * job.element, team.pes.pe(to));
}

namespace {

/// By a kernel, from and to the memory of GPUs. False: the CPU has to do it.
bool combine_on_device(Team& team, const Reduction& job, const Operands& operands, const Ranks& writers,
                       Part part) noexcept {
  PeState& state = team.state;
  constexpr int kMost = DeviceReduction::kMost;
  if (!state.device || operands.ranks.size > kMost || writers.size >= kMost) return false;
  const size_t nbytes = part.count * job.element;
  std::byte* const dest = job.dest + part.first * job.element;
  const std::byte* const from = operands.from + part.first * job.element;
  if (!Operand(state, dest, nbytes).on_device(state) || !Operand(state, from, nbytes).on_device(state)) return false;
  DeviceReduction all{};
  all.op = job.op;
  all.kind = job.kind;
  all.nelems = part.count;
  all.noperands = operands.ranks.size;
  for (int i = 0; i < operands.ranks.size; ++i) {
    const PeerAddress there = locate(state, job.function, from, nbytes, team.pes.pe(operands.ranks[i]));
    if (!there.mapped) return false;
    all.operands[i] = there.mapped;
  }
  all.results[0] = dest;
  all.nresults = 1;
  for (int i = 0; i < writers.size; ++i) {
    if (writers[i] == team.rank) continue;
    const PeerAddress there = locate(state, job.function, dest, nbytes, team.pes.pe(writers[i]));
    if (!there.mapped) return false;
    all.results[all.nresults++] = there.mapped;
  }
  return state.device->reduce(all);
}

/// The CPU's `result` of a block to this PE's dest and those of the writers, in the memory of GPUs.
void store_result(Team& team, const Reduction& job, const Ranks& writers, Part block,
                  const std::byte* result) noexcept {
  std::byte* const dest = job.dest + block.first * job.element;
  const size_t nbytes = block.count * job.element;
  CopyBatch copies(team.state.device);
  copies.add(dest, result, nbytes);
  const auto of = [&](int i) { return locate(team.state, job.function, dest, nbytes, team.pes.pe(writers[i])).mapped; };
  for (int i = 0; i < writers.size; ++i)
    if (writers[i] != team.rank && of(i)) copies.add(of(i), result, nbytes);
  copies.finish();
  for (int i = 0; i < writers.size; ++i)
    if (writers[i] != team.rank && !of(i)) deliver(team, job, writers[i], block);
}

}  // namespace

void combine_part(Team& team, const Reduction& job, const Operands& operands, const Ranks& writers,
                  Part part) noexcept {
  if (part.count == 0 || combine_on_device(team, job, operands, writers, part)) return;
  const bool staged = team.state.device && team.state.device->is_device(job.dest);
  // dest may be one of the operands: it is written only with the last one at hand.
  alignas(64) std::byte partial[OperandStream::kBlockBytes];
  const std::byte* left = nullptr;
  const int last = operands.ranks.size - 1;
  OperandStream stream(team, job, operands, part);
  stream.run([&](Part block, int index, const std::byte* operand, bool stays) noexcept {
    std::byte* const result = staged ? partial : job.dest + block.first * job.element;
    const size_t nbytes = block.count * job.element;
    if (index > 0) {
      std::byte* const out = index == last ? result : partial;
      job.combine(out, left, operand, block.count);
      left = out;
    } else if (last > 0 && stays) {
      left = operand;
    } else {
      std::byte* const out = last == 0 ? result : partial;
      if (out != operand) std::memcpy(out, operand, nbytes);
      left = out;
    }
    if (index != last) return;
    if (staged) return store_result(team, job, writers, block, left);
    for (int w = 0; w < writers.size; ++w)
      if (writers[w] != team.rank) deliver(team, job, writers[w], block);
  });
}

void combine_by_node(Team& team, const Reduction& job, const std::byte* from, Part part) noexcept {
  if (part.count == 0) return;
  const TeamNodes& nodes = team.nodes;
  const bool staged = team.state.device && team.state.device->is_device(job.dest);
  alignas(64) std::byte of_node[OperandStream::kBlockBytes], of_all[OperandStream::kBlockBytes];
  const std::byte* left = nullptr;
  OperandStream stream(team, job, {{nodes.by_node.data(), team.size()}, from}, part);
  stream.run([&](Part block, int index, const std::byte* operand, bool stays) noexcept {
    const auto node =
        static_cast<size_t>(nodes.node_of[static_cast<size_t>(nodes.by_node[static_cast<size_t>(index)])]);
    const size_t nbytes = block.count * job.element;
    if (index != nodes.first[node]) {
      job.combine(of_node, left, operand, block.count);
      left = of_node;
    } else if (stays) {
      left = operand;
    } else {
      std::memcpy(of_node, operand, nbytes);
      left = of_node;
    }
    if (index + 1 != nodes.first[node + 1]) return;
    if (node == 0)
      std::memcpy(of_all, left, nbytes);
    else
      job.combine(of_all, of_all, left, block.count);
    if (index + 1 != team.size()) return;
    // dest may be one of the operands: it is written with the last one at hand.
    if (staged) return store_result(team, job, {}, block, of_all);
    std::memcpy(job.dest + block.first * job.element, of_all, nbytes);
  });
}

void scan_part(Team& team, const Reduction& job, Scan scan, Part part) noexcept {
  if (part.count == 0) return;
  constexpr size_t kBlock = 4096;  // the longest put whose source the network copies, so that sums may go on changing
  alignas(64) std::byte buffers[2][kBlock];
  std::byte* sum = buffers[0];  // of the operands so far
  std::byte* next = buffers[1];
  OperandStream stream(team, job, {Ranks::all(team), job.source}, part, kBlock);
  stream.run([&](Part block, int rank, const std::byte* operand, bool) noexcept {
    const size_t nbytes = block.count * job.element;
    // A member's operand is read before that member's dest is written, because source and dest may be one array.
    if (rank == 0) {
      std::memset(sum, 0, nbytes);
      std::memcpy(next, operand, nbytes);
    } else {
      job.combine(next, sum, operand, block.count);
    }
    const std::byte* result = scan == Scan::inclusive ? next : sum;
    put(team.state, team.context, job.function, job.dest + block.first * job.element, result, nbytes,
        team.pes.pe(rank));
    std::swap(sum, next);
  });
}

}  // namespace railshmem
