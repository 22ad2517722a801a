// SPDX-License-Identifier: BSD-3-Clause
#include "src/globals/page_mover.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "src/globals/raw_syscall.h"

namespace railshmem {
namespace {

constexpr size_t kPagesAtOnce = 2048;  // 16 KiB of stack, 8 MiB of objects per system call
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kSwapped = uint64_t{1} << 62;

RAILSHMEM_BARE bool all_zero(const std::byte* page, size_t nbytes) noexcept {
  const auto* words = reinterpret_cast<const uint64_t*>(page);
  uint64_t seen = 0;
  for (size_t i = 0; i < nbytes / sizeof(uint64_t) && seen == 0; i += 8)
    for (size_t k = 0; k < 8; ++k) seen |= words[i + k];
  return seen == 0;
}

/// pread (into `address`) or pwrite (from it), however many calls it takes.
RAILSHMEM_BARE int transfer(long call, int fd, std::byte* address, size_t nbytes, size_t offset) noexcept {
  while (nbytes != 0) {
    const long n = raw(call, fd, address, nbytes, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    address += n;
    offset += static_cast<size_t>(n);
    nbytes -= static_cast<size_t>(n);
  }
  return 0;
}

/// Fills `entry` for the next pages; without a pagemap every page counts as present.
RAILSHMEM_BARE void look_up(int pagemap, const std::byte* at, size_t page, uint64_t* entry, size_t count) noexcept {
  const size_t offset = reinterpret_cast<uintptr_t>(at) / page * sizeof(uint64_t);
  const long wanted = static_cast<long>(count * sizeof(uint64_t));
  if (pagemap >= 0 && raw(SYS_pread64, pagemap, entry, wanted, offset) == wanted) return;
  for (size_t i = 0; i < count; ++i) entry[i] = kPresent;
}

/// mincore() would not do: it calls a swapped-out page, and one dropped from the page cache, absent.
RAILSHMEM_BARE int copy_to_file(const PageRange& range, int pagemap, size_t page) noexcept {
  uint64_t entry[kPagesAtOnce];
  size_t run = 0;  // bytes before `at` that are to be written
  for (size_t at = 0; at < range.nbytes;) {
    size_t count = (range.nbytes - at) / page;
    if (count > kPagesAtOnce) count = kPagesAtOnce;
    look_up(pagemap, range.base + at, page, entry, count);
    for (size_t i = 0; i < count; ++i, at += page) {
      const bool exists = at < range.initialised_nbytes || (entry[i] & (kPresent | kSwapped)) != 0;
      if (exists && !all_zero(range.base + at, page)) {
        run += page;
        continue;
      }
      const int failed = transfer(SYS_pwrite64, range.fd, range.base + at - run, run, at - run);
      if (failed != 0) return failed;
      run = 0;
    }
  }
  return transfer(SYS_pwrite64, range.fd, range.base + range.nbytes - run, run, range.nbytes - run);
}

/// Reads what is not a hole; `to` is zero memory.
RAILSHMEM_BARE int copy_from_file(const PageRange& range, std::byte* to) noexcept {
  for (size_t at = 0; at < range.nbytes;) {
    const long data = raw(SYS_lseek, range.fd, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return 0;  // only a hole is left
    if (data < 0) return errno;
    const long end = raw(SYS_lseek, range.fd, data, SEEK_HOLE);
    if (end < 0) return errno;
    const size_t stop = static_cast<size_t>(end) < range.nbytes ? static_cast<size_t>(end) : range.nbytes;
    const auto start = static_cast<size_t>(data);
    if (start >= stop) return 0;
    const int failed = transfer(SYS_pread64, range.fd, to + start, stop - start, start);
    if (failed != 0) return failed;
    at = stop;
  }
  return 0;
}

}  // namespace

RAILSHMEM_BARE int move_to_file(const PageRange& range, int pagemap) noexcept {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const int failed = copy_to_file(range, pagemap, page);
  if (failed != 0) return failed;
  const long mapped = raw(SYS_mmap, range.base, range.nbytes, range.protection, MAP_SHARED | MAP_FIXED, range.fd, 0);
  return mapped == -1 ? errno : 0;
}

RAILSHMEM_BARE int move_to_private(const PageRange& range) noexcept {
  const long fresh =
      raw(SYS_mmap, nullptr, range.nbytes, range.protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == -1) return errno;
  int failed = copy_from_file(range, reinterpret_cast<std::byte*>(fresh));
  if (failed == 0 &&
      raw(SYS_mremap, fresh, range.nbytes, range.nbytes, MREMAP_MAYMOVE | MREMAP_FIXED, range.base) == -1)
    failed = errno;
  if (failed != 0) raw(SYS_munmap, fresh, range.nbytes);
  return failed;
}

}  // namespace railshmem
