// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/nic_share.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

namespace railshmem {
namespace {

constexpr size_t kNone = SIZE_MAX;

class Dealer {
 public:
  Dealer(std::span<const Place> nics, std::span<const Place> pes) : users_(nics.size()), shares_(pes.size()) {
    for (const Place& pe : pes) {
      std::vector<uint32_t>& row = distance_.emplace_back();
      for (const Place& nic : nics) levels_.insert(row.emplace_back(distance(pe, nic)));
    }
  }

  std::vector<NicShare> deal(size_t max_rails) {
    if (users_.size() >= shares_.size()) {
      deal_slices();
    } else {
      spread();
    }
    for (size_t pe = 0; pe < shares_.size(); ++pe) shares_[pe].rails = rails_of(pe, max_rails);
    return std::move(shares_);
  }

 private:
  /// Deals NICs where there are enough for all: near NICs first, one to each PE in turn, so that no PE has two before
  /// another PE has one.
  void deal_slices() {
    const size_t each = users_.size() / shares_.size();
    for (const uint32_t level : levels_)
      deal_level(level, [&](const NicShare& share) { return share.slice.size() < each; });
    std::vector<uint32_t> farthest;
    for (size_t pe = 0; pe < shares_.size(); ++pe) farthest.push_back(distance_[pe][shares_[pe].slice.back()]);
    for (const uint32_t level : levels_)
      deal_level(level, [&](const NicShare& share) {
        return share.slice.size() == each && level <= farthest[static_cast<size_t>(&share - shares_.data())];
      });
  }

  template <class Wants>
  void deal_level(uint32_t level, const Wants& wants) {
    for (bool dealt = true; dealt;) {
      dealt = false;
      for (size_t pe = 0; pe < shares_.size(); ++pe) {
        if (!wants(shares_[pe])) continue;
        const size_t nic = least_used(pe, level);
        if (nic == kNone || users_[nic] > 0) continue;
        give(pe, nic);
        dealt = true;
      }
    }
  }

  /// Deals NICs where there are fewer than PEs: PEs with a near NIC choose first, the other PEs afterwards.
  void spread() {
    std::vector<size_t> order(shares_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto nearest = [&](size_t pe) { return *std::min_element(distance_[pe].begin(), distance_[pe].end()); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return nearest(a) < nearest(b); });
    for (const size_t pe : order) give(pe, least_used(pe, nearest(pe)));
  }

  void give(size_t pe, size_t nic) {
    shares_[pe].slice.push_back(nic);
    ++users_[nic];
  }

  /// The NIC with the fewest users among the NICs at this distance; kNone if none exists.
  size_t least_used(size_t pe, uint32_t level) const {
    std::vector<size_t> there;
    for (size_t nic = 0; nic < users_.size(); ++nic)
      if (distance_[pe][nic] == level) there.push_back(nic);
    if (there.empty()) return kNone;
    // PEs with equal distances begin at places of their own, so that slices are runs of neighbours. Where nothing says
    // where PEs are, PE k is likely to use GPU k, and NICs are numbered like GPUs.
    std::rotate(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(first_place(pe, there.size())), there.end());
    return *std::min_element(there.begin(), there.end(), [&](size_t a, size_t b) { return users_[a] < users_[b]; });
  }

  size_t first_place(size_t pe, size_t count) const {
    size_t before = 0;
    size_t alike = 0;
    for (size_t other = 0; other < distance_.size(); ++other) {
      if (distance_[other] != distance_[pe]) continue;
      before += other < pe;
      ++alike;
    }
    return before * count / alike;
  }

  std::vector<size_t> rails_of(size_t pe, size_t max_rails) const {
    std::vector<size_t> rails = shares_[pe].slice;
    const size_t wanted = max_rails ? max_rails : std::min(rails.size(), kAutoRails);
    if (wanted > rails.size()) {
      std::vector<size_t> more(
          users_.size());  // NICs after the PE's own come first, so that neighbours extend to different NICs
      std::iota(more.begin(), more.end(), size_t{0});
      std::rotate(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(rails.front()), more.end());
      std::erase_if(more, [&](size_t nic) { return std::find(rails.begin(), rails.end(), nic) != rails.end(); });
      std::stable_sort(more.begin(), more.end(),
                       [&](size_t a, size_t b) { return distance_[pe][a] < distance_[pe][b]; });
      rails.insert(rails.end(), more.begin(), more.end());
    }
    if (rails.size() > wanted) rails.resize(wanted);
    return rails;
  }

  std::vector<std::vector<uint32_t>> distance_;  ///< [PE][NIC]
  std::set<uint32_t> levels_;
  std::vector<size_t> users_;  ///< PEs that each NIC is dealt to
  std::vector<NicShare> shares_;
};

}  // namespace

std::vector<NicShare> share_nics(std::span<const Place> nics, std::span<const Place> pes, size_t max_rails) {
  if (nics.empty()) return std::vector<NicShare>(pes.size());
  return Dealer(nics, pes).deal(max_rails);
}

}  // namespace railshmem
