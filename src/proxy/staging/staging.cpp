// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/staging/staging.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/memory_file.h"
#include "src/proxy/post/message.h"

namespace railshmem {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSmallSlots = 64;  // a quarter of a source's window of requests; more wait where they are
constexpr size_t kSmallSlotNbytes = kMaxMessage;
constexpr size_t kMediumSlots = 64;             // at 10 us from copy to acknowledgement they carry 100 GB/s
constexpr size_t kMediumSlotNbytes = 16 << 10;  // a token of 8192 values of two bytes

}  // namespace

void StagingPart::record(uint64_t began, size_t nbytes) const noexcept {
  observer->count(observe::Engine::copies, 1);
  observer->count(observe::Engine::copied_bytes, nbytes);
  observer->count(observe::Engine::copying_ticks, observer->ticks() - began);
}

bool Staging::is_needed(std::span<const Segment> segments) noexcept {
  return std::any_of(segments.begin(), segments.end(),
                     [](const Segment& segment) { return segment.kind == MemoryKind::staged; });
}

size_t Staging::slot_nbytes(const Tuning& tuning) noexcept {
  return align_up(tuning.staging_chunk, kPage);
}

Staging::Staging(std::span<const Segment> segments, const MakeCopier& make_copier, const Tuning& tuning, size_t rails,
                 size_t ports, observe::Observer* observer, size_t payload_nbytes)
    : segments_(segments.begin(), segments.end()), make_copier_(make_copier), exposed_(segments_) {
  if (tuning.staging_chunk < kPage || tuning.staging_depth < 1)
    throw Error(text("SHMEM_STAGING_CHUNK is %zu and SHMEM_STAGING_DEPTH %zu; at least %zu and 1 are needed",
                     tuning.staging_chunk, tuning.staging_depth, kPage));
  const size_t chunk = slot_nbytes(tuning);
  const size_t slots = tuning.staging_depth * std::max<size_t>(rails, 1);
  const size_t medium_slots = chunk > kMediumSlotNbytes ? kMediumSlots : 0;  // else the large ones are as short
  const size_t part_nbytes = slots * chunk + medium_slots * kMediumSlotNbytes + kSmallSlots * kSmallSlotNbytes;
  const size_t nparts = ports + 1;
  spare_ = nparts * part_nbytes;
  const size_t payloads = align_up(spare_ + kPage, kPage);
  nbytes_ = payloads + align_up(payload_nbytes, kPage);
  // Shared, so that a fork() by the program does not move pages that a NIC knows. Of a file, so that peers may map it.
  file_ = create_memory_file("railshmem-staging", nbytes_);
  if (!file_) log_debug("peers of this host cannot map the bounce area: memfd_create: %s", std::strerror(errno));
  void* const area = mmap(nullptr, nbytes_, PROT_READ | PROT_WRITE, MAP_SHARED | (file_ ? 0 : MAP_ANONYMOUS),
                          file_ ? file_.get() : -1, 0);
  check_errno(area != MAP_FAILED, "mmap of the bounce area");
  area_ = static_cast<std::byte*>(area);
  std::optional<SegmentId> bounce;
  for (Segment& segment : exposed_) {
    if (segment.kind != MemoryKind::staged) continue;
    segment = bounce ? Segment{segment.id} : Segment{segment.id, area_, nbytes_};
    if (!bounce) bounce = segment.id;
  }
  for (size_t i = 0; i < nparts; ++i) {
    const uint64_t large = i * part_nbytes, medium = large + slots * chunk;
    const uint64_t small = medium + medium_slots * kMediumSlotNbytes;
    parts_.push_back(std::make_unique<StagingPart>(
        StagingPart{segments_,
                    bounce.value(),
                    {area_, nbytes_},
                    {area_ + payloads, payload_nbytes},
                    make_copier_({{area_, nbytes_}}),
                    {BouncePool(area_, small, kSmallSlotNbytes, kSmallSlots),
                     BouncePool(area_, medium, medium_slots > 0 ? kMediumSlotNbytes : 0, medium_slots),
                     BouncePool(area_, large, chunk, slots)},
                    observer}));
  }
}

void Staging::describe_to(StagingTerms& terms) const {
  terms.area_nbytes = nbytes_;
  if (file_) terms.area = describe_fd(file_.get());
}

void Staging::learn_areas(std::span<const StagingTerms> by_pe) {
  for (const StagingTerms& terms : by_pe) peers_areas_.push_back(terms.area_nbytes);
  for (const auto& part : parts_) part->peers_areas = peers_areas_;
}

void Staging::meet_neighbours(std::span<const StagingTerms> by_pe, int me) {
  neighbours_.emplace(by_pe, me);
  if (neighbours_->all().empty()) return;
  for (const auto& part : parts_) {
    part->copier = make_copier_({part->area, neighbours_->all()});
    part->neighbours = &*neighbours_;
  }
}

Staging::~Staging() {
  parts_.clear();  // copiers wait for what is under way
  if (area_ != nullptr) munmap(area_, nbytes_);
}

std::string Staging::describe() const {
  const StagingPart& part = *parts_[0];
  std::string slots;
  for (size_t i = kSlotKinds; i-- > 0;) {
    const BouncePool& pool = part.pools[i];
    if (pool.size() > 0)
      slots += text("%s%zu of %zu KiB", slots.empty() ? "" : ", ", pool.size(), pool.slot_nbytes() / 1024);
  }
  std::string line =
      text("staging: through slots, %s per use (host calls, each proxy thread's channels, serving)", slots.c_str());
  if (!payloads().empty()) line += text(", %zu KiB for what kernels put and get", payloads().size() / 1024);
  line += text(": %zu KiB\n", nbytes_ / 1024);
  if (neighbours_)
    line += text("staging: other PEs of this host whose slots are mapped: %zu\n", neighbours_->all().size());
  return line;
}

}  // namespace railshmem
