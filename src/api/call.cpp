// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/call.h"

#include "src/base/log.h"

namespace railshmem {

void die_bad_context(const char* function, shmem_ctx_t ctx) noexcept {
  if (ctx == SHMEM_CTX_INVALID)
    die("%s: the context is SHMEM_CTX_INVALID; use SHMEM_CTX_DEFAULT or a context that was created", function);
  die("%s: %p is no context of this library; use SHMEM_CTX_DEFAULT or a context that was created", function,
      static_cast<void*>(ctx));
}

}  // namespace railshmem
