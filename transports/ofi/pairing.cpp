// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/pairing.h"

#include <algorithm>
#include <numeric>

namespace railshmem::ofi {
namespace {

/// 0 to n - 1; multiples of the golden ratio spread any arithmetic sequence of numbers.
size_t spread(uint32_t number, size_t n) {
  const uint64_t fraction = number * 2654435769u;  // of 2^32: number / golden ratio
  return (fraction * n) >> 32;
}

/// By how much a PE's rails are turned against its planes. Each run of n PEs has every turn once. The runs are turned
/// against each other, so that PEs in any stride are spread too.
size_t turn(int pe, size_t n) {
  const auto number = static_cast<uint32_t>(pe);
  return (number % n + spread(static_cast<uint32_t>(number / n), n)) % n;
}

/// Two rails are on one plane when their (rail + turn) mod planes agree. The PE with more rails defines the planes. Its
/// rails that lie on no plane of the other PE are spread over the other PE's rails.
size_t partner(size_t rail, size_t mine, size_t theirs, int me, int pe) {
  const size_t planes = std::max(mine, theirs);
  const size_t there = (rail + turn(me, planes) + planes - turn(pe, planes)) % planes;
  return there < theirs ? there : (there + spread(static_cast<uint32_t>(me), theirs)) % theirs;
}

std::vector<size_t> in_network(std::span<const std::string> networks, const std::string& wanted) {
  std::vector<size_t> rails;
  for (size_t rail = 0; rail < networks.size(); ++rail)
    if (networks[rail] == wanted) rails.push_back(rail);
  return rails;
}

void pair(std::vector<size_t>& partners, const std::vector<size_t>& mine, const std::vector<size_t>& theirs, int me,
          int pe) {
  for (size_t i = 0; i < mine.size(); ++i) partners[mine[i]] = theirs[partner(i, mine.size(), theirs.size(), me, pe)];
}

std::vector<size_t> all(size_t n) {
  std::vector<size_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

}  // namespace

std::vector<size_t> pair_rails(std::span<const std::string> mine, std::span<const std::string> theirs, int me, int pe) {
  std::vector<size_t> partners(mine.size(), kNoRail);
  bool shared = false;
  for (size_t rail = 0; rail < mine.size(); ++rail) {
    if (partners[rail] != kNoRail) continue;  // paired together with an earlier rail of its network
    const std::vector<size_t> there = in_network(theirs, mine[rail]);
    if (there.empty()) continue;
    shared = true;
    pair(partners, in_network(mine, mine[rail]), there, me, pe);
  }
  if (!shared && !theirs.empty()) pair(partners, all(mine.size()), all(theirs.size()), me, pe);
  return partners;
}

}  // namespace railshmem::ofi
