// SPDX-License-Identifier: BSD-3-Clause
// What all PEs must have alike to stage for each other, and to read each other's messages. It travels behind the
// fabric's descriptor and is compared at start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/memory_file.h"
#include "src/plugin/segment.h"
#include "src/proxy/rails/tuning.h"

namespace railshmem {

/// The number of slots is not among them: each side takes slots of its own only.
struct StagingTerms {
  uint64_t slot_nbytes = 0;  ///< 0: nothing is staged
  std::array<MemoryKind, kSegments> kinds{};
  uint8_t checks_data = 0;  ///< 1: messages end with a seal. Of a peer it may be any number
  uint8_t unused[7 - kSegments] = {};
  PeerFd area{};             ///< the file of the bounce area, for those of one host; of process -1: no file
  uint64_t area_nbytes = 0;  ///< of the bounce area

  static StagingTerms of(std::span<const Segment> segments, const Tuning& tuning) noexcept;
};
static_assert(sizeof(StagingTerms) == 64);

/// The descriptor that peers get: the fabric's own, then the terms.
std::vector<std::byte> add_terms(std::vector<std::byte> descriptor, const StagingTerms& terms);

/// Every PE's descriptor as its fabric made it. Throws Error if a descriptor has no terms.
std::vector<std::vector<std::byte>> without_terms(std::span<const std::vector<std::byte>> descriptors);

/// Every PE's, in PE order. After without_terms().
std::vector<StagingTerms> terms_of(std::span<const std::vector<std::byte>> descriptors);

/// Throws Error that names the setting and the PE where the terms of one are not those of this PE. After
/// without_terms().
void compare_terms(std::span<const std::vector<std::byte>> descriptors, const StagingTerms& mine);

}  // namespace railshmem
