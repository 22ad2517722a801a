// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/staging/staging_terms.h"

#include <cstring>

#include "src/base/error.h"
#include "src/proxy/staging/staging.h"

namespace railshmem {
namespace {

void compare(size_t pe, const StagingTerms& theirs, const StagingTerms& mine) {
  if (theirs.checks_data != mine.checks_data)
    throw Error(text("SHMEM_CHECK_DATA is %d on PE %zu and %d on this PE; set it alike on all PEs", theirs.checks_data,
                     pe, mine.checks_data));
  for (size_t i = 0; i < kSegments; ++i) {
    if (theirs.kinds[i] == mine.kinds[i]) continue;
    const char* const which = name_of(static_cast<SegmentId>(i));
    const bool reached = theirs.kinds[i] == MemoryKind::host;
    throw Error(
        text("the network %s the %s of PE %zu, but %s that of this PE; set SHMEM_TEST_STAGED_HEAP alike on all PEs",
             reached ? "reaches" : "cannot reach", which, pe, reached ? "cannot reach" : "reaches"));
  }
  if (theirs.slot_nbytes != mine.slot_nbytes)
    throw Error(text("SHMEM_STAGING_CHUNK is %llu bytes on PE %zu and %llu on this PE; set it alike on all PEs",
                     static_cast<unsigned long long>(theirs.slot_nbytes), pe,
                     static_cast<unsigned long long>(mine.slot_nbytes)));
}

}  // namespace

StagingTerms StagingTerms::of(std::span<const Segment> segments, const Tuning& tuning) noexcept {
  StagingTerms terms;
  for (const Segment& segment : segments) terms.kinds[static_cast<size_t>(segment.id)] = segment.kind;
  terms.checks_data = tuning.checks_data;
  if (Staging::is_needed(segments)) terms.slot_nbytes = Staging::slot_nbytes(tuning);
  return terms;
}

std::vector<std::byte> add_terms(std::vector<std::byte> descriptor, const StagingTerms& terms) {
  const auto bytes = std::as_bytes(std::span(&terms, 1));
  descriptor.insert(descriptor.end(), bytes.begin(), bytes.end());
  return descriptor;
}

std::vector<std::vector<std::byte>> without_terms(std::span<const std::vector<std::byte>> descriptors) {
  std::vector<std::vector<std::byte>> rest;
  rest.reserve(descriptors.size());
  for (size_t pe = 0; pe < descriptors.size(); ++pe) {
    const std::vector<std::byte>& descriptor = descriptors[pe];
    if (descriptor.size() < sizeof(StagingTerms))
      throw Error(text("the network descriptor of PE %zu is cut short; install the same RailSHMEM everywhere", pe));
    rest.emplace_back(descriptor.begin(), descriptor.end() - sizeof(StagingTerms));
  }
  return rest;
}

std::vector<StagingTerms> terms_of(std::span<const std::vector<std::byte>> descriptors) {
  std::vector<StagingTerms> all(descriptors.size());
  for (size_t pe = 0; pe < descriptors.size(); ++pe)
    std::memcpy(&all[pe], descriptors[pe].data() + descriptors[pe].size() - sizeof all[pe], sizeof all[pe]);
  return all;
}

void compare_terms(std::span<const std::vector<std::byte>> descriptors, const StagingTerms& mine) {
  const std::vector<StagingTerms> all = terms_of(descriptors);
  for (size_t pe = 0; pe < all.size(); ++pe) compare(pe, all[pe], mine);
}

}  // namespace railshmem
