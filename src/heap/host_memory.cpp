// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/host_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/base/log.h"
#include "src/base/memory_file.h"
#include "src/base/quantity.h"
#include "src/base/system_limits.h"
#include "src/heap/memory_limit.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // since Linux 5.14
#endif

namespace railshmem {
namespace {

constexpr unsigned kHuge2M = 21u << 26;   // MFD_HUGE_2MB: the default size could be 1 GiB, which no slot is aligned to
constexpr size_t kCheckFrom = 64u << 20;  // for less, reading /proc costs more than the answer is worth
constexpr int kPreferred = 1;             // MPOL_PREFERRED: a full node spills over; MPOL_BIND would kill

[[noreturn]] void refuse(size_t nbytes, const std::string& why) {
  throw Error(
      text("no memory for %s of symmetric segment: %s; lower SHMEM_SYMMETRIC_SIZE, allocate less or run fewer PEs per "
           "node",
           memory_size(nbytes).c_str(), why.c_str()));
}

UniqueFd create(size_t nbytes, unsigned flags) {
  return create_memory_file("railshmem-heap", nbytes, flags);
}

/// Empty when the pool is too small. Mapping once reserves the pages for the file's life, so no SIGBUS can follow.
UniqueFd create_huge(size_t nbytes) {
  UniqueFd fd = create(nbytes, MFD_HUGETLB | kHuge2M);
  if (!fd) return fd;
  void* reserved = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (reserved == MAP_FAILED) return UniqueFd();
  munmap(reserved, nbytes);
  return fd;
}

bool several_numa_nodes() {
  return read_file("/sys/devices/system/node/online").find_first_of(",-") != std::string::npos;
}

/// Prefers this PE's NUMA node for its pages: peers' early stores would otherwise place them on the peers' nodes. Best
/// effort, because containers often forbid this.
void prefer_own_node(void* base, size_t nbytes) {
  unsigned cpu = 0;
  unsigned node = 0;
  if (!several_numa_nodes() || syscall(SYS_getcpu, &cpu, &node, nullptr) != 0) return;
  constexpr size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  unsigned long mask[1024 / kBits] = {};
  if (node >= 1024) return;
  mask[node / kBits] = 1ul << (node % kBits);
  if (syscall(SYS_mbind, base, nbytes, kPreferred, mask, 1024ul, 0u) != 0)
    log_debug("mbind to NUMA node %u: %s", node, std::strerror(errno));
}

/// Touches pages by adding zero atomically. A plain store of the value read before would lose a peer's store in
/// between.
void touch(std::byte* base, size_t nbytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t at = 0; at < nbytes; at += page)
    __atomic_fetch_add(reinterpret_cast<unsigned char*>(base + at), static_cast<unsigned char>(0), __ATOMIC_RELAXED);
}

}  // namespace

HostMemory::HostMemory(size_t nbytes, HugePagesMode mode) : mode_(mode) {
  if (nbytes == 0 || nbytes > SIZE_MAX / 2) refuse(nbytes, "the size is out of range");
  nbytes_ = align_up(nbytes, kAlign);
  if (mode != HugePagesMode::off) fd_ = create_huge(nbytes_);
  huge_ = static_cast<bool>(fd_);
  if (mode == HugePagesMode::on && !huge_)
    log_warn(
        "SHMEM_HUGE_PAGES is on but %zu free huge pages of 2 MiB are not available (see "
        "/proc/sys/vm/nr_hugepages); using ordinary pages",
        nbytes_ / kAlign);
  if (!fd_) fd_ = create(nbytes_, 0);
  if (!fd_) refuse(nbytes_, text("memfd_create or ftruncate: %s", refusal_text(errno).c_str()));
}

void HostMemory::place(std::byte* base) noexcept {
  base_ = base;
  if (!huge_) madvise(base, nbytes_, mode_ == HugePagesMode::off ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
  try {
    prefer_own_node(base, nbytes_);
  } catch (...) {
    // The failure costs only the placement.
  }
}

void HostMemory::populate(size_t offset, size_t nbytes) {
  if (base_ == nullptr || offset > nbytes_ || nbytes > nbytes_ - offset)
    throw Error(text("populate of %zu bytes at %zu of a segment of %zu", nbytes, offset, nbytes_));
  if (nbytes == 0) return;
  if (!huge_ && nbytes >= kCheckFrom) {
    if (const uint64_t left = available_memory(); nbytes > left)
      refuse(nbytes, text("the system has %s left", memory_size(left).c_str()));
  }
  const size_t unit = huge_ ? kAlign : static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t start = align_down(offset, unit);
  const size_t length = align_up(offset + nbytes, unit) - start;
  int failed = 0;
  do {
    failed = madvise(base_ + start, length, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
  } while (failed == EINTR || failed == EAGAIN);
  if (failed == 0) return;
  if (failed != EINVAL) refuse(nbytes, text("madvise(MADV_POPULATE_WRITE): %s", std::strerror(failed)));
  // For older kernels: fallocate reports a lack of memory, where a touch would end in SIGBUS.
  while (fallocate(fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(start), static_cast<off_t>(length)) != 0)
    if (errno != EINTR) refuse(nbytes, text("fallocate: %s", std::strerror(errno)));
  touch(base_ + start, length);
}

}  // namespace railshmem
