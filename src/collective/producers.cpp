// SPDX-License-Identifier: BSD-3-Clause
#include "src/collective/producers.h"

#include <algorithm>

#include "src/base/cpu.h"
#include "src/rma/copy_batch.h"

namespace railshmem {
namespace {

constexpr uint64_t kFetchNs = 20'000;  // a fetch takes some 10 us

}  // namespace

Producers::Producers(const Team& team, const uint64_t* counters, uint64_t number, size_t pieces, size_t piece_nbytes)
    : team_(team), number_(number), pieces_(pieces), piece_nbytes_(piece_nbytes) {
  const size_t n = static_cast<size_t>(team.size()) * pieces;
  const Operand operand(team.state, counters, n * sizeof(uint64_t));
  const bool mapped = operand.mapped(team.state);
  for (const int rank : team.nodes.members) {
    if (!mapped && rank != team.rank) continue;
    const void* const there = rank == team.rank ? static_cast<const void*>(counters) : operand.of(team, rank);
    members_.push_back({rank, there, std::vector<uint64_t>(n)});
  }
}

void Producers::fetch() noexcept {
  if (now_ns() < fetch_from_ns_) return;
  CopyBatch copies(team_.state.device);
  for (Member& member : members_)
    copies.add(member.seen.data(), member.counters, member.seen.size() * sizeof(uint64_t));
  copies.finish();
  fetch_from_ns_ = now_ns() + kFetchNs;
}

bool Producers::are_ready(int owner, size_t at, size_t nbytes) noexcept {
  const size_t base = static_cast<size_t>(owner) * pieces_;
  const size_t first = base + at / piece_nbytes_, last = base + (at + nbytes - 1) / piece_nbytes_;
  const auto known = [&] {
    for (const Member& member : members_)
      for (size_t i = first; i <= last; ++i)
        if (member.seen[i] < number_) return false;
    return true;
  };
  if (known()) return true;
  fetch();
  return known();
}

int Producers::late() const noexcept {
  for (const Member& member : members_)
    for (const uint64_t counter : member.seen)
      if (counter < number_) return member.rank;
  return -1;
}

bool Producers::all_ready() noexcept {
  if (late() >= 0) fetch();
  return late() < 0;
}

}  // namespace railshmem
