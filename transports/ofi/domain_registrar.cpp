// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/domain_registrar.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cerrno>

namespace railshmem::ofi {
namespace {

// Keys of local buffers start here, away from the small numbers of the segments: unique within a domain.
constexpr uint64_t kFirstLocalKey = 16;
constexpr int kKeyTries = 64;  // taken keys passed over when the numbers come round again

constexpr uint64_t kReadOnly = FI_WRITE | FI_SEND;
constexpr uint64_t kReadWrite = kReadOnly | FI_READ | FI_RECV;

uint64_t keys_of(const fi_info& info) noexcept {
  const size_t size = info.domain_attr->mr_key_size;
  const uint64_t all = size == 0 || size >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
  return all - std::min(all - 1, kFirstLocalKey);
}

}  // namespace

LocalRegion& LocalRegion::operator=(LocalRegion&& other) noexcept {
  if (this == &other) return *this;
  reset();
  region_ = std::move(other.region_);
  writable_ = other.writable_;
  monitor_ = std::exchange(other.monitor_, nullptr);
  pages_ = other.pages_;
  return *this;
}

void LocalRegion::reset() noexcept {
  region_.reset();
  if (monitor_) monitor_->unwatch(pages_);
  monitor_ = nullptr;
}

DomainRegistrar::DomainRegistrar(const RegistrationSite& site, MemoryMonitor* monitor) noexcept
    : site_(site), monitor_(monitor), keys_(keys_of(*site.info)) {}

int DomainRegistrar::add(const PageRange& pages, LocalUse use, Region& region) noexcept {
  // Watched first: what is unmapped while it is being registered is noticed too.
  const bool watched = monitor_ && monitor_->watch(pages);
  int error = open(pages, true, region);
  // A source may be constant data, which no NIC may write to.
  if (use == LocalUse::source && (error == EFAULT || error == EACCES || error == EPERM || error == EINVAL))
    error = open(pages, false, region);
  if (error == 0) {
    if (watched) region.watched_by(*monitor_, pages);
  } else if (watched) {
    monitor_->unwatch(pages);
  }
  return error;
}

int DomainRegistrar::add_unwatched(const PageRange& pages, Region& region) noexcept {
  const int error = open(pages, true, region);
  return error == EFAULT || error == EACCES || error == EPERM || error == EINVAL ? open(pages, false, region) : error;
}

int DomainRegistrar::open(const PageRange& pages, bool writable, Region& region) noexcept {
  const Memory memory{pages.base(), pages.nbytes()};
  int rc = -FI_ENOKEY;
  for (int i = 0; i < kKeyTries && rc == -FI_ENOKEY; ++i) {
    const uint64_t key = kFirstLocalKey + next_key_++ % keys_;
    Fid<fid_mr> opened;
    rc = site_.open({memory, writable ? kReadWrite : kReadOnly, key}, memory, opened);
    if (rc == 0) region = LocalRegion(std::move(opened), writable);
  }
  return -rc;
}

}  // namespace railshmem::ofi
