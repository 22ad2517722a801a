// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/memory_file.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u  // since Linux 6.3; hardened systems refuse a memfd without it
#endif

namespace railshmem {

UniqueFd create_memory_file(const char* name, size_t nbytes, unsigned flags) noexcept {
  // ulimit -f counts for memory files too, and beyond it ftruncate would kill the process by SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && nbytes > limit.rlim_cur) {
    errno = EFBIG;
    return UniqueFd();
  }
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL | flags));
  if (!fd && errno == EINVAL) fd = UniqueFd(memfd_create(name, MFD_CLOEXEC | flags));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(nbytes)) == 0) return fd;
  const int failed = errno;
  fd.reset();
  errno = failed;
  return fd;
}

}  // namespace railshmem
