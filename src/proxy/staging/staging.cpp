// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/staging/staging.h"

#include <sys/mman.h>

#include <algorithm>
#include <optional>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/proxy/post/message.h"

namespace railshmem {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSmallSlots = 64;  // a quarter of a source's window of requests; more wait where they are
constexpr size_t kSmallSlotNbytes = kMaxMessage;

}  // namespace

bool Staging::is_needed(std::span<const Segment> segments) noexcept {
  return std::any_of(segments.begin(), segments.end(),
                     [](const Segment& segment) { return segment.kind == MemoryKind::staged; });
}

size_t Staging::slot_nbytes(const Tuning& tuning) noexcept {
  return align_up(tuning.staging_chunk, kPage);
}

Staging::Staging(std::span<const Segment> segments, const MakeCopier& make_copier, const Tuning& tuning, size_t rails,
                 size_t ports)
    : segments_(segments.begin(), segments.end()), exposed_(segments_) {
  if (tuning.staging_chunk < kPage || tuning.staging_depth < 1)
    throw Error(text("SHMEM_STAGING_CHUNK is %zu and SHMEM_STAGING_DEPTH %zu; at least %zu and 1 are needed",
                     tuning.staging_chunk, tuning.staging_depth, kPage));
  const size_t chunk = slot_nbytes(tuning);
  const size_t slots = tuning.staging_depth * std::max<size_t>(rails, 1);
  const size_t part_nbytes = slots * chunk + kSmallSlots * kSmallSlotNbytes;
  const size_t nparts = ports + 1;
  spare_ = nparts * part_nbytes;
  nbytes_ = spare_ + kPage;
  // Shared, so that a fork() by the program does not move pages that a NIC knows.
  void* const area = mmap(nullptr, nbytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check_errno(area != MAP_FAILED, "mmap of the bounce area");
  area_ = static_cast<std::byte*>(area);
  std::optional<SegmentId> bounce;
  for (Segment& segment : exposed_) {
    if (segment.kind != MemoryKind::staged) continue;
    segment = bounce ? Segment{segment.id} : Segment{segment.id, area_, nbytes_};
    if (!bounce) bounce = segment.id;
  }
  for (size_t i = 0; i < nparts; ++i) {
    const uint64_t first = i * part_nbytes;
    parts_.push_back(std::make_unique<StagingPart>(
        StagingPart{segments_,
                    bounce.value(),
                    {area_, nbytes_},
                    make_copier({area_, nbytes_}),
                    BouncePool(area_, first + slots * chunk, kSmallSlotNbytes, kSmallSlots),
                    BouncePool(area_, first, chunk, slots)}));
  }
}

Staging::~Staging() {
  parts_.clear();  // copiers wait for what is under way
  if (area_ != nullptr) munmap(area_, nbytes_);
}

std::string Staging::describe() const {
  const StagingPart& part = *parts_[0];
  return text(
      "staging: through %zu slots of %zu KiB and %zu of %zu KiB per use (host calls, each proxy thread's channels, "
      "serving): %zu KiB\n",
      part.large.size(), part.large.slot_nbytes() / 1024, part.small.size(), part.small.slot_nbytes() / 1024,
      nbytes_ / 1024);
}

}  // namespace railshmem
