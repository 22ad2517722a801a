// SPDX-License-Identifier: BSD-3-Clause
// The registration cache over a registrar that counts, fails on request and knows what the network may touch.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "transports/ofi/registration_cache.h"

namespace railshmem::ofi {
namespace {

constexpr size_t kPage = 4096;

PageRange pages(size_t first, size_t count) {
  return {first * kPage, (first + count) * kPage};
}

/// Registrations that exist, by a number that the descriptor carries.
struct Book {
  struct Open {
    PageRange pages;
    bool writable;
  };
  std::map<uintptr_t, Open> open;
  uintptr_t next = 1;
  size_t most = ~size_t{0};  ///< more are refused with ENOMEM
  int error = 0;             ///< every one is refused
  bool watched = true;
  std::set<size_t> read_only;  ///< pages
  size_t bytes() const {
    size_t sum = 0;
    for (const auto& [number, region] : open) sum += region.pages.nbytes();
    return sum;
  }
};

class FakeRegistrar {
 public:
  class Region {
   public:
    Region() = default;
    Region(Book& book, uintptr_t number) : book_(&book), number_(number) {}
    Region(Region&& other) noexcept { *this = std::move(other); }
    Region& operator=(Region&& other) noexcept {
      reset();
      book_ = std::exchange(other.book_, nullptr);
      number_ = other.number_;
      return *this;
    }
    ~Region() { reset(); }
    void reset() noexcept {
      if (book_) book_->open.erase(number_);
      book_ = nullptr;
    }
    void* desc() const noexcept { return reinterpret_cast<void*>(number_); }
    bool writable() const noexcept { return book_->open.at(number_).writable; }
    bool watched() const noexcept { return book_->watched; }

   private:
    Book* book_ = nullptr;
    uintptr_t number_ = 0;
  };

  explicit FakeRegistrar(Book& book) : book_(book) {}
  int add(const PageRange& range, LocalUse use, Region& region) noexcept {
    if (book_.error != 0) return book_.error;
    if (book_.open.size() >= book_.most) return ENOMEM;
    bool writable = true;
    for (const size_t page : book_.read_only) writable &= !range.overlaps(pages(page, 1));
    if (!writable && use == LocalUse::destination) return EFAULT;
    book_.open[book_.next] = {range, writable};
    region = Region(book_, book_.next++);
    return 0;
  }

 private:
  Book& book_;
};

class RegistrationCacheTest : public ::testing::Test {
 protected:
  using Cache = RegistrationCache<FakeRegistrar>;

  /// Acquires and returns the entry; the number of the registration in `number`.
  uint32_t acquire(const PageRange& range, LocalUse use = LocalUse::source) {
    uint32_t entry = 0;
    EXPECT_EQ(cache.acquire(range, use, entry), 0);
    number = reinterpret_cast<uintptr_t>(cache.desc(entry));
    EXPECT_TRUE(book.open.count(number) && book.open[number].pages.contains(range));
    return entry;
  }
  uintptr_t use(const PageRange& range, LocalUse how = LocalUse::source) {
    cache.release(acquire(range, how));
    return number;
  }

  Book book;
  FakeRegistrar registrar{book};
  Cache cache{registrar, {64 * kPage, 4}, 8};
  uintptr_t number = 0;
};

TEST_F(RegistrationCacheTest, UsesARegistrationAgainAndForItsParts) {
  const uintptr_t whole = use(pages(10, 4));
  EXPECT_EQ(use(pages(10, 4)), whole);
  EXPECT_EQ(use(pages(11, 2)), whole);
  EXPECT_EQ(use(pages(13, 1)), whole);
  EXPECT_NE(use(pages(13, 2)), whole) << "one page of it is outside";
  EXPECT_EQ(cache.counts().hits, 3u);
  EXPECT_EQ(cache.counts().misses, 2u);
}

TEST_F(RegistrationCacheTest, ARangeRetiresThoseItContains) {
  use(pages(10, 2));
  use(pages(13, 2));
  use(pages(20, 1));
  const uintptr_t large = use(pages(9, 7));
  EXPECT_EQ(book.open.size(), 2u);
  EXPECT_EQ(use(pages(10, 2)), large);
  EXPECT_EQ(cache.bytes(), 8 * kPage);
}

TEST_F(RegistrationCacheTest, OverlapsStaySideBySide) {
  const uintptr_t first = use(pages(10, 3));
  const uintptr_t second = use(pages(12, 3));
  EXPECT_EQ(book.open.size(), 2u) << "a stream of pieces must not grow unions";
  EXPECT_EQ(use(pages(10, 2)), first);
  EXPECT_EQ(use(pages(13, 2)), second);
}

TEST_F(RegistrationCacheTest, EvictsTheOneUnusedForLongest) {
  for (size_t i = 0; i < 4; ++i) use(pages(10 * i, 1));
  use(pages(0, 1));  // now page 10 is the oldest
  use(pages(100, 1));
  EXPECT_EQ(cache.counts().evictions, 1u);
  const uint64_t misses = cache.counts().misses;
  for (const size_t page : {0, 20, 30, 100}) use(pages(page, 1));
  EXPECT_EQ(cache.counts().misses, misses);
  use(pages(10, 1));
  EXPECT_EQ(cache.counts().misses, misses + 1);
}

TEST_F(RegistrationCacheTest, EvictsByBytesToo) {
  use(pages(0, 30));
  use(pages(100, 30));
  use(pages(200, 30));
  EXPECT_EQ(cache.open(), 2u);
  EXPECT_EQ(cache.bytes(), 60 * kPage);
  use(pages(300, 100));
  EXPECT_EQ(cache.open(), 0u) << "larger than the cache: gone after its use, as is everything for its sake";
}

TEST_F(RegistrationCacheTest, EntriesInUseSurviveEvictionAndGoBeyondTheLimits) {
  std::vector<uint32_t> held;
  for (size_t i = 0; i < 8; ++i) held.push_back(acquire(pages(10 * i, 1)));
  EXPECT_EQ(cache.open(), 8u);
  EXPECT_EQ(cache.counts().evictions, 0u);
  for (const uint32_t entry : held) cache.release(entry);
  EXPECT_EQ(cache.open(), 4u);
  EXPECT_EQ(cache.in_use(), 0u);
}

TEST_F(RegistrationCacheTest, OneRegistrationServesManyOperations) {
  const uint32_t a = acquire(pages(5, 2));
  const uint32_t b = acquire(pages(6, 1));
  EXPECT_EQ(a, b);
  cache.release(a);
  EXPECT_EQ(cache.in_use(), 1u);
  cache.release(b);
  EXPECT_EQ(cache.in_use(), 0u);
}

TEST_F(RegistrationCacheTest, InvalidationDuringUseHidesItAtOnceAndClosesItLater) {
  const uint32_t old = acquire(pages(10, 4));
  const uintptr_t old_number = number;
  cache.invalidate(pages(12, 1));
  EXPECT_TRUE(book.open.count(old_number)) << "an operation still uses it";
  const uintptr_t fresh = use(pages(10, 4));
  EXPECT_NE(fresh, old_number);
  cache.release(old);
  EXPECT_FALSE(book.open.count(old_number));
  EXPECT_EQ(use(pages(10, 4)), fresh);
}

TEST_F(RegistrationCacheTest, InvalidationTakesWhatItTouchesOnly) {
  use(pages(10, 2));
  use(pages(12, 2));
  use(pages(14, 2));
  cache.invalidate(pages(13, 1));
  EXPECT_EQ(cache.open(), 2u);
  cache.invalidate(pages(16, 100));
  EXPECT_EQ(cache.open(), 2u);
  cache.invalidate(kAllMemory);
  EXPECT_EQ(cache.open(), 0u);
  EXPECT_EQ(cache.counts().invalidations, 3u);
}

TEST_F(RegistrationCacheTest, WhatNobodyWatchesGoesWithItsOperation) {
  book.watched = false;
  const uint32_t a = acquire(pages(1, 2));
  const uint32_t b = acquire(pages(1, 1));
  EXPECT_EQ(a, b) << "its memory is there as long as an operation uses it";
  cache.release(a);
  cache.release(b);
  EXPECT_EQ(cache.open(), 0u);
}

TEST_F(RegistrationCacheTest, ASourceThatMayOnlyBeReadDoesNotServeADestination) {
  book.read_only = {12};
  const uintptr_t source = use(pages(10, 4));
  EXPECT_EQ(use(pages(10, 1)), source);
  const uintptr_t dest = use(pages(10, 1), LocalUse::destination);
  EXPECT_NE(dest, source);
  EXPECT_EQ(book.open.size(), 1u) << "the index holds no range within another";
  uint32_t entry = 0;
  EXPECT_EQ(cache.acquire(pages(12, 1), LocalUse::destination, entry), EFAULT);
  EXPECT_EQ(use(pages(10, 1)), dest);
}

TEST_F(RegistrationCacheTest, ShortageEvictsThenWaitsThenFails) {
  use(pages(0, 1));
  use(pages(10, 1));
  book.most = 2;
  const uint32_t a = acquire(pages(20, 1));
  EXPECT_EQ(book.open.size(), 1u) << "unused ones made room";
  const uint32_t b = acquire(pages(30, 1));
  uint32_t entry = 0;
  EXPECT_EQ(cache.acquire(pages(40, 1), LocalUse::source, entry), EAGAIN);
  cache.release(a);
  EXPECT_EQ(cache.acquire(pages(40, 1), LocalUse::source, entry), 0);
  cache.release(b);
  cache.release(entry);
  book.most = 0;
  EXPECT_EQ(cache.acquire(pages(50, 1), LocalUse::source, entry), ENOMEM);
  book.error = EFAULT;
  EXPECT_EQ(cache.acquire(pages(50, 1), LocalUse::source, entry), EFAULT);
}

TEST(RegistrationCacheWithoutLimits, KeepsNothing) {
  Book book;
  FakeRegistrar registrar(book);
  RegistrationCache<FakeRegistrar> cache(registrar, {0, 0}, 2);
  uint32_t entry = 0;
  ASSERT_EQ(cache.acquire(pages(1, 1), LocalUse::source, entry), 0);
  EXPECT_EQ(book.open.size(), 1u);
  cache.release(entry);
  EXPECT_TRUE(book.open.empty());
}

/// Against a model that knows for each page when it was last mapped anew: a registration made before that must never be
/// handed out, and limits and counts hold at every step.
TEST(RegistrationCacheRandom, NeverHandsOutWhatIsStaleOrTooSmall) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return random() % n; };
    Book book;
    FakeRegistrar registrar(book);
    const CacheLimits limits{below(60) * kPage, below(12)};
    constexpr size_t kPages = 64;
    constexpr size_t kOperations = 10;
    RegistrationCache<FakeRegistrar> cache(registrar, limits, kOperations);
    for (size_t page = 0; page < kPages; page += 16) book.read_only.insert(page);
    std::vector<uintptr_t> mapped(kPages, 0);  // number of the first registration that is good for this page
    struct Operation {
      uint32_t entry;
      uintptr_t number;
    };
    std::vector<Operation> flying;
    for (int step = 0; step < 20000; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << step);
      book.watched = below(10) != 0;
      book.most = below(50) == 0 ? flying.size() : ~size_t{0};
      const size_t first = below(kPages);
      const size_t count = 1 + below(std::min<size_t>(kPages - first, 12));
      const size_t what = below(10);
      if (what < 5 && flying.size() < kOperations) {
        const LocalUse use = below(3) == 0 ? LocalUse::destination : LocalUse::source;
        bool read_only = false;
        for (size_t page = first; page < first + count; ++page) read_only |= page % 16 == 0;
        uint32_t entry = 0;
        const int rc = cache.acquire(pages(first, count), use, entry);
        if (rc != 0) {
          ASSERT_TRUE(rc == (read_only && use == LocalUse::destination ? EFAULT : EAGAIN) || book.most != ~size_t{0})
              << rc;
          continue;
        }
        const auto number = reinterpret_cast<uintptr_t>(cache.desc(entry));
        ASSERT_TRUE(book.open.count(number));
        ASSERT_TRUE(book.open[number].pages.contains(pages(first, count)));
        ASSERT_TRUE(book.open[number].writable || use == LocalUse::source);
        for (size_t page = first; page < first + count; ++page) ASSERT_GE(number, mapped[page]);
        flying.push_back({entry, number});
      } else if (what < 9 && !flying.empty()) {
        const size_t which = below(flying.size());
        ASSERT_TRUE(book.open.count(flying[which].number)) << "closed while in use";
        cache.release(flying[which].entry);
        flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
      } else if (what == 9) {
        cache.invalidate(pages(first, count));
        for (size_t page = first; page < first + count; ++page) mapped[page] = book.next;
      }
      ASSERT_EQ(cache.open(), book.open.size());
      ASSERT_EQ(cache.bytes(), book.bytes());
      ASSERT_LE(cache.open(), std::max(limits.count, 2 * kOperations));
      if (flying.empty()) {
        ASSERT_EQ(cache.in_use(), 0u);
        ASSERT_LE(cache.open(), limits.count);
        ASSERT_LE(cache.bytes(), limits.bytes);
      }
    }
    for (const Operation& operation : flying) cache.release(operation.entry);
    cache.invalidate(kAllMemory);
    ASSERT_TRUE(book.open.empty());
  }
}

}  // namespace
}  // namespace railshmem::ofi
