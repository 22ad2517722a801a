// SPDX-License-Identifier: BSD-3-Clause
// The list of fi_getinfo, narrowed step by step; whatever falls out keeps the reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "transports/ofi/nic_facts.h"

namespace railshmem::ofi {

class NicFilter {
 public:
  explicit NicFilter(std::span<const NicFacts> listed);

  // Each of these throws Error listing what was left before when nothing fits.
  void keep_provider(const std::string& wanted);
  void keep_remote();
  void drop_named(const std::vector<std::string>& names);
  /// What is named, in that order, of the best provider that has all of it.
  void keep_named(const std::vector<std::string>& names);

  /// The best provider's best NICs, with one address for each, all of one family.
  void keep_best();
  /// A NIC of at most half the speed of the fastest has another purpose (storage, management).
  void drop_slow();
  /// By bus address, which is the order of the hardware and the same for all PEs of the host.
  void sort_by_bus();
  /// Keeps these entries, in this order; the others must have been dropped.
  void keep(std::vector<size_t> entries) { fit_ = std::move(entries); }
  void drop(size_t entry, std::string why);

  /// Entries that are left, as indices into the list.
  const std::vector<size_t>& fit() const noexcept { return fit_; }
  const NicFacts& facts(size_t entry) const noexcept { return listed_[entry]; }
  /// The whole list, best first.
  std::vector<size_t> all_by_rank() const;
  /// Empty for what is left.
  const std::string& why_dropped(size_t entry) const noexcept { return why_[entry]; }
  /// Distinct names of the NICs that are left, for messages.
  std::string available() const;

 private:
  /// `reason_of` says why an entry falls out; empty for one that stays.
  template <class ReasonOf>
  void drop_if(const ReasonOf& reason_of);
  void sort_by_rank(std::vector<size_t>& entries) const;
  void must_know(const std::vector<std::string>& names) const;
  void keep_one_address();

  std::span<const NicFacts> listed_;
  std::vector<size_t> fit_;
  std::vector<std::string> why_;  ///< by entry
};

/// One physical NIC: its bus address, or its domain where libfabric does not know the hardware.
std::string identity(const NicFacts& nic);

}  // namespace railshmem::ofi
