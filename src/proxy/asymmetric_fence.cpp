// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/asymmetric_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/log.h"

namespace railshmem {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kMembarrierIsUnderstood = false;
#else
constexpr bool kMembarrierIsUnderstood = true;
#endif

bool call_membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

/// A process must announce that it will use the expedited form; a second time does nothing.
bool register_process() noexcept {
  return call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

}  // namespace

AsymmetricFence::AsymmetricFence(Kind kind) noexcept
    : asymmetric_(kind == Kind::best && kMembarrierIsUnderstood && register_process()) {}

void AsymmetricFence::heavy() noexcept {
  if (!asymmetric_) {
    meet();
  } else if (!call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
    die("membarrier(PRIVATE_EXPEDITED) worked at start and fails now; is a seccomp filter installed meanwhile?");
  }
}

}  // namespace railshmem
