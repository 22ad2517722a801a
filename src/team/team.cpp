// SPDX-License-Identifier: BSD-3-Clause
#include "src/team/team.h"

#include <new>
#include <unordered_map>

#include "src/plugin/network.h"

namespace railshmem {

TeamNodes find_team_nodes(const PeSet& pes, int rank, const NodeLayout& layout) {
  TeamNodes nodes;
  std::unordered_map<int, int> index_of;  // world's node -> index in leaders
  nodes.node_of.reserve(static_cast<size_t>(pes.size));
  for (int r = 0; r < pes.size; ++r) {
    const int node = layout.node_of_pe[static_cast<size_t>(pes.pe(r))];
    const auto [found, is_new] = index_of.try_emplace(node, static_cast<int>(nodes.leaders.size()));
    if (is_new) nodes.leaders.push_back(r);
    nodes.node_of.push_back(found->second);
  }
  // Ranks grouped by node: count, add up, fill.
  nodes.first.assign(nodes.leaders.size() + 1, 0);
  for (const int node : nodes.node_of) ++nodes.first[static_cast<size_t>(node) + 1];
  for (size_t node = 1; node < nodes.first.size(); ++node) nodes.first[node] += nodes.first[node - 1];
  nodes.by_node.resize(nodes.node_of.size());
  std::vector<int> next = nodes.first;
  for (int r = 0; r < pes.size; ++r)
    nodes.by_node[static_cast<size_t>(next[static_cast<size_t>(nodes.node_of[static_cast<size_t>(r)])]++)] = r;
  nodes.my_node = nodes.node_of[static_cast<size_t>(rank)];
  for (int r = 0; r < pes.size; ++r) {
    if (nodes.node_of[static_cast<size_t>(r)] != nodes.my_node) continue;
    if (r == rank) nodes.my_index = static_cast<int>(nodes.members.size());
    nodes.members.push_back(r);
  }
  return nodes;
}

Team::Team(PeState& pe_state, const PeSet& set, int my_rank, int area_slot, const NodeLayout& layout,
           size_t area_offset, uint64_t first, uint32_t generation_of_slot)
    : state(pe_state),
      pes(set),
      rank(my_rank),
      slot(area_slot),
      generation(generation_of_slot),
      offset(area_offset),
      area(pe_state.npes),
      nodes(find_team_nodes(set, my_rank, layout)),
      share_cpus(layout.pes_on_host > layout.cpus_on_host),
      first_number(first),
      syncs(first),
      exchanges(first),
      gathers(first),
      arrivals(first),
      checks(first) {
  for (const int member : nodes.members) areas_here.push_back(at(member, 0));
  if (!state.network) return;
  for (std::vector<LinkCounts>& of_kind : links) of_kind.assign(static_cast<size_t>(set.size), {first, first});
  context.net = state.network->make_context();
}

std::byte* Team::sums_of(size_t nbytes) {
  constexpr size_t kAlign = 4096;
  if (nbytes > sums_nbytes) {
    sums.reset();
    sums_nbytes = align_up(nbytes, kAlign);
    sums.reset(static_cast<std::byte*>(std::aligned_alloc(kAlign, sums_nbytes)));
    if (!sums) throw std::bad_alloc();
  }
  return sums.get();
}

uint64_t Team::highest_number() const noexcept {
  uint64_t highest = std::max({syncs, exchanges, gathers, arrivals, checks});
  for (const std::vector<LinkCounts>& of_kind : links)
    for (const LinkCounts& counts : of_kind) highest = std::max({highest, counts.sent, counts.received});
  return highest;
}

std::vector<int> Team::absent_here() const {
  std::vector<int> absent;
  for (int i = 0; i < nodes.size_here(); ++i) {
    const auto* const count = reinterpret_cast<const uint64_t*>(here(i, offsetof(SyncFlags, entered)));
    // relaxed: see enter().
    if (__atomic_load_n(count, __ATOMIC_RELAXED) < entered)
      absent.push_back(pes.pe(nodes.members[static_cast<size_t>(i)]));
  }
  std::sort(absent.begin(), absent.end());
  return absent;
}

Team::~Team() {
  for (size_t kind = 0; kind < std::size(scratch_slots); ++kind)
    if (scratch_slots[kind].mine) state.scratch_slots[kind]->give_back(scratch_slots[kind].mine);
  if (context.net) state.network->drop_context(context.net);
}

}  // namespace railshmem
