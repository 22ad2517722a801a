// SPDX-License-Identifier: BSD-3-Clause
// The list of fi_getinfo, narrowed step by step. Every dropped entry keeps the reason.
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

  // When nothing fits, each of these throws Error with the list of entries that were left before.
  void keep_provider(const std::string& wanted);
  void drop_unfit();
  void keep_remote();
  /// A name that no entry has excludes nothing: one value serves hosts with different interfaces.
  void drop_named(const std::vector<std::string>& names);
  /// Keeps the NICs named, in the order of `names`, of the best provider that has all of them.
  void keep_named(const std::vector<std::string>& names);

  /// Keeps the best provider's best NICs, with one address for each NIC, all of one family.
  void keep_best();
  /// Drops NICs of at most half the speed of the fastest: they have another purpose (storage, management).
  void drop_slow();
  /// Sorts by bus address: this is the order of the hardware, on which all PEs of the host agree.
  void sort_by_bus();
  /// Keeps these entries, in this order; the others must have been dropped.
  void keep(std::vector<size_t> entries) { fit_ = std::move(entries); }
  void drop(size_t entry, std::string why);

  /// The entries that are left, as indices into the list.
  const std::vector<size_t>& fit() const noexcept { return fit_; }
  const NicFacts& facts(size_t entry) const noexcept { return listed_[entry]; }
  /// The whole list, best first.
  std::vector<size_t> all_by_rank() const;
  /// Why an entry was dropped; empty for an entry that is left.
  const std::string& why_dropped(size_t entry) const noexcept { return why_[entry]; }
  /// Whether one of the NICs that are left has this name.
  bool knows(const std::string& name) const;
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
