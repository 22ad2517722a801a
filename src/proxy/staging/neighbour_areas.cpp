// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/staging/neighbour_areas.h"

#include <sys/mman.h>

#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem {
namespace {

/// Throws Error.
std::span<std::byte> map_area(const StagingTerms& theirs) {
  const UniqueFd file = open_peer_fd(theirs.area);
  void* const area = mmap(nullptr, theirs.area_nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  check_errno(area != MAP_FAILED, "mmap");
  madvise(area, theirs.area_nbytes, MADV_DONTDUMP);
  return {static_cast<std::byte*>(area), theirs.area_nbytes};
}

}  // namespace

NeighbourAreas::NeighbourAreas(std::span<const StagingTerms> by_pe, int me) : by_pe_(by_pe.size()) {
  mapped_.reserve(by_pe.size());
  for (size_t pe = 0; pe < by_pe.size(); ++pe) {
    if (pe == static_cast<size_t>(me) || by_pe[pe].area_nbytes == 0 || by_pe[pe].area.pid < 0) continue;
    try {
      by_pe_[pe] = map_area(by_pe[pe]);
      mapped_.push_back(by_pe_[pe]);
    } catch (const std::exception& error) {
      log_debug("the bounce area of PE %zu is not mapped: %s", pe, error.what());
    }
  }
}

NeighbourAreas::~NeighbourAreas() {
  for (const std::span<std::byte> area : mapped_) munmap(area.data(), area.size());
}

}  // namespace railshmem
