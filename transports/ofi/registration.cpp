// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/registration.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "src/base/error.h"
#include "transports/ofi/page_range.h"

namespace railshmem::ofi {
namespace {

#ifndef MADV_POPULATE_READ  // since Linux 5.14
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

constexpr uint64_t kWritten = FI_READ | FI_RECV | FI_REMOTE_WRITE;  ///< accesses that change local memory

fi_hmem_iface interface_of(HmemInterface kind) noexcept {
  switch (kind) {
    case HmemInterface::cuda:
      return FI_HMEM_CUDA;
    case HmemInterface::host:
      break;
  }
  return FI_HMEM_SYSTEM;
}

}  // namespace

RegistrationAttributes::RegistrationAttributes(const Memory& memory, uint64_t access, uint64_t key)
    : pages_{const_cast<std::byte*>(memory.base), memory.nbytes} {
  attributes_.mr_iov = &pages_;
  attributes_.iov_count = 1;
  attributes_.access = access;
  attributes_.requested_key = key;
  attributes_.iface = interface_of(memory.kind);
  attributes_.device.reserved = static_cast<uint64_t>(memory.device);
  if (memory.dmabuf_fd < 0) return;
#ifdef FI_MR_DMABUF
  dmabuf_.fd = memory.dmabuf_fd;
  dmabuf_.offset = memory.dmabuf_offset;
  dmabuf_.len = memory.nbytes;
  // A peer's address is base_addr + offset, and that is to be memory.base.
  dmabuf_.base_addr = const_cast<std::byte*>(memory.base) - memory.dmabuf_offset;
  attributes_.dmabuf = &dmabuf_;
  flags_ = FI_MR_DMABUF;
#else
  throw Error(text("dmabuf descriptor %d cannot be registered: libfabric %u.%u has no FI_MR_DMABUF (1.20 and later do)",
                   memory.dmabuf_fd, FI_MAJOR_VERSION, FI_MINOR_VERSION));
#endif
}

bool populate(const Memory& memory, bool writable) noexcept {
  const PageRange pages = pages_of(memory.base, memory.nbytes);
  const int advice = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  // EINVAL also means that the memory may not be accessed so; nothing at all is fine for a kernel that knows the
  // advice.
  if (madvise(nullptr, 0, advice) == 0) return madvise(pages.base(), pages.nbytes(), advice) == 0;
  // An older kernel: a load brings shared pages into being, which segments consist of, and is safe on any buffer.
  for (uintptr_t at = pages.begin; at < pages.end; at += kPageBytes)
    static_cast<void>(*reinterpret_cast<const volatile unsigned char*>(at));
  return true;
}

int RegistrationSite::open(const RegistrationAttributes& attributes, const Memory& memory, Fid<fid_mr>& region,
                           const char** call) const noexcept {
  const auto step = [&](const char* name, int rc) {
    if (call) *call = name;
    return rc;
  };
  const bool by_address = memory.kind == HmemInterface::host && memory.dmabuf_fd < 0;
  if (wants(FI_MR_ALLOCATED) && by_address && !populate(memory, (attributes.get().access & kWritten) != 0))
    return step("madvise(MADV_POPULATE)", -errno);
  fid_mr* raw = nullptr;
  if (const int rc = step("fi_mr_regattr", fi_mr_regattr(domain, &attributes.get(), attributes.flags(), &raw)); rc != 0)
    return rc;
  Fid<fid_mr> opened(raw);
  if (wants(FI_MR_ENDPOINT)) {
    if (const int rc = step("fi_mr_bind", fi_mr_bind(raw, &endpoint->fid, 0)); rc != 0) return rc;
    if (const int rc = step("fi_mr_enable", fi_mr_enable(raw)); rc != 0) return rc;
  }
  region = std::move(opened);
  return 0;
}

}  // namespace railshmem::ofi
