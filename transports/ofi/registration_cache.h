// SPDX-License-Identifier: BSD-3-Clause
// Registrations of local memory in one domain, kept after their use for the next one.
#pragma once

#include <algorithm>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transports/ofi/page_range.h"

namespace railshmem::ofi {

/// What the network does with a local buffer. A source may lie in memory that this process may only read.
enum class LocalUse : uint8_t { source, destination };

/// Contract: what registers memory. add() returns 0 or an errno value; a Region unregisters when it is destroyed.
template <class R>
concept Registrar = std::default_initializable<typename R::Region> && std::movable<typename R::Region> &&
    requires(R r, const PageRange& pages, LocalUse use, typename R::Region region) {
  { r.add(pages, use, region) }
  noexcept->std::same_as<int>;
  { region.desc() }
  noexcept->std::same_as<void*>;
  /// The network may also write to it.
  { region.writable() }
  noexcept->std::same_as<bool>;
  /// Somebody tells when its pages go (invalidate()), so it may outlive its use.
  { region.watched() }
  noexcept->std::same_as<bool>;
};

/// Limits of what is kept; memory in use goes beyond them where it must.
struct CacheLimits {
  size_t bytes = 0;
  size_t count = 0;
};

struct CacheCounts {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;
  uint64_t invalidations = 0;
};

/// Ranges of the index never contain each other, so that they are sorted by begin and by end at once and one binary
/// search tells whether a range is covered. Overlaps stay: a stream through a large buffer in pieces that share a page
/// would otherwise register ever larger unions. A new range retires those it contains; retired and invalidated
/// registrations live on until the last operation that uses them is over.
///
/// Used by one thread at a time. Nothing is allocated after construction.
template <Registrar R>
class RegistrationCache {
 public:
  using Entry = uint32_t;

  /// `operations`: acquired and not yet released at once, at most.
  RegistrationCache(R& registrar, const CacheLimits& limits, size_t operations)
      : registrar_(registrar), limits_(limits) {
    const size_t most = limits.count + operations + 1;
    entries_.resize(most);
    index_.reserve(most);
    free_.reserve(most);
    for (size_t i = most; i > 0; --i) free_.push_back(static_cast<Entry>(i - 1));
  }
  RegistrationCache(const RegistrationCache&) = delete;

  /// Finds or makes a registration that covers `pages` and holds it for an operation. Returns 0 or an errno value;
  /// EAGAIN when there will be room once an operation in flight is over.
  int acquire(const PageRange& pages, LocalUse use, Entry& entry) noexcept {
    entry = find(pages, use);
    if (entry != kNone) {
      ++counts_.hits;
      hold(entry);
      return 0;
    }
    ++counts_.misses;
    return add(pages, use, entry);
  }

  /// The operation is over.
  void release(Entry entry) noexcept {
    Node& node = entries_[entry];
    if (--node.users > 0) return;
    --in_use_;
    if (!node.indexed) return close(entry);
    if (!node.region.watched()) {
      drop_from_index(entry);
      return close(entry);
    }
    link_newest(entry);
    while (oldest_ != kNone && (open() > limits_.count || bytes_ > limits_.bytes)) evict();
  }

  /// The memory behind `gone` is no longer what was registered.
  void invalidate(const PageRange& gone) noexcept {
    const auto first = std::partition_point(index_.begin(), index_.end(),
                                            [&](const Item& item) { return item.pages.end <= gone.begin; });
    auto last = first;
    for (; last != index_.end() && last->pages.begin < gone.end; ++last) ++counts_.invalidations;
    retire(first, last);
  }

  void* desc(Entry entry) const noexcept { return entries_[entry].region.desc(); }
  /// Registrations that exist, those retired but in use included, and their bytes.
  size_t open() const noexcept { return entries_.size() - free_.size(); }
  size_t bytes() const noexcept { return bytes_; }
  size_t in_use() const noexcept { return in_use_; }
  const CacheCounts& counts() const noexcept { return counts_; }

 private:
  static constexpr Entry kNone = ~Entry{0};

  struct Node {
    PageRange pages;
    typename R::Region region;
    uint32_t users = 0;
    bool indexed = false;
    Entry older = kNone;  // neighbours in the list of the unused, by last use
    Entry newer = kNone;
  };
  struct Item {
    PageRange pages;
    Entry entry;
  };
  using ItemIterator = typename std::vector<Item>::iterator;

  bool serves(Entry entry, const PageRange& pages, LocalUse use) const noexcept {
    const Node& node = entries_[entry];
    return node.pages.contains(pages) && (use == LocalUse::source || node.region.writable());
  }

  Entry find(const PageRange& pages, LocalUse use) noexcept {
    if (last_ != kNone && serves(last_, pages, use)) return last_;
    // Of the ranges that begin early enough the last one ends last.
    const auto behind = std::partition_point(index_.begin(), index_.end(),
                                             [&](const Item& item) { return item.pages.begin <= pages.begin; });
    if (behind == index_.begin() || !serves(std::prev(behind)->entry, pages, use)) return kNone;
    return last_ = std::prev(behind)->entry;
  }

  int add(const PageRange& pages, LocalUse use, Entry& entry) noexcept {
    while (oldest_ != kNone && (open() + 1 > limits_.count || bytes_ + pages.nbytes() > limits_.bytes)) evict();
    if (free_.empty()) return EAGAIN;
    typename R::Region region;
    int error = registrar_.add(pages, use, region);
    if (is_shortage(error) && oldest_ != kNone) {
      while (oldest_ != kNone) evict();
      error = registrar_.add(pages, use, region);
    }
    if (is_shortage(error)) return in_use_ > 0 ? EAGAIN : ENOMEM;
    if (error != 0) return error;

    replace(pages);
    entry = free_.back();
    free_.pop_back();
    Node& node = entries_[entry];
    node.pages = pages;
    node.region = std::move(region);
    node.users = 1;
    node.indexed = true;
    ++in_use_;
    bytes_ += pages.nbytes();
    index_.insert(std::partition_point(index_.begin(), index_.end(),
                                       [&](const Item& item) { return item.pages.begin < pages.begin; }),
                  {pages, entry});
    last_ = entry;
    return 0;
  }

  /// Pinned memory or the NIC's table is used up, perhaps by us.
  static bool is_shortage(int error) noexcept { return error == ENOMEM || error == ENOSPC || error == EAGAIN; }

  /// Retires what `pages` contains, and what contains `pages` but did not serve (registered for reading only).
  void replace(const PageRange& pages) noexcept {
    auto first = std::partition_point(index_.begin(), index_.end(),
                                      [&](const Item& item) { return item.pages.begin < pages.begin; });
    auto last = first;
    while (first != index_.begin() && std::prev(first)->pages.end >= pages.end) --first;
    while (last != index_.end() && (last->pages.end <= pages.end || last->pages.begin == pages.begin)) ++last;
    retire(first, last);
  }

  void retire(ItemIterator first, ItemIterator last) noexcept {
    for (auto item = first; item != last; ++item) {
      Node& node = entries_[item->entry];
      node.indexed = false;
      if (last_ == item->entry) last_ = kNone;
      if (node.users > 0) continue;
      unlink(item->entry);
      close(item->entry);
    }
    index_.erase(first, last);
  }

  void evict() noexcept {
    const Entry entry = oldest_;
    ++counts_.evictions;
    drop_from_index(entry);
    unlink(entry);
    close(entry);
  }

  void drop_from_index(Entry entry) noexcept {
    const PageRange& pages = entries_[entry].pages;
    const auto item =
        std::partition_point(index_.begin(), index_.end(), [&](const Item& i) { return i.pages.begin < pages.begin; });
    index_.erase(item);
    entries_[entry].indexed = false;
    if (last_ == entry) last_ = kNone;
  }

  void close(Entry entry) noexcept {
    Node& node = entries_[entry];
    bytes_ -= node.pages.nbytes();
    node.region = {};
    free_.push_back(entry);
  }

  void hold(Entry entry) noexcept {
    if (entries_[entry].users++ > 0) return;
    ++in_use_;
    unlink(entry);
  }

  void link_newest(Entry entry) noexcept {
    entries_[entry].older = newest_;
    entries_[entry].newer = kNone;
    (newest_ == kNone ? oldest_ : entries_[newest_].newer) = entry;
    newest_ = entry;
  }
  void unlink(Entry entry) noexcept {
    const Node& node = entries_[entry];
    (node.older == kNone ? oldest_ : entries_[node.older].newer) = node.newer;
    (node.newer == kNone ? newest_ : entries_[node.newer].older) = node.older;
  }

  R& registrar_;
  const CacheLimits limits_;
  std::vector<Node> entries_;
  std::vector<Entry> free_;
  std::vector<Item> index_;  ///< sorted by begin and so by end
  Entry last_ = kNone;       ///< the last hit, which programs like to repeat
  Entry oldest_ = kNone;
  Entry newest_ = kNone;
  size_t bytes_ = 0;
  size_t in_use_ = 0;
  CacheCounts counts_;
};

}  // namespace railshmem::ofi
