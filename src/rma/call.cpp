// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/call.h"

#include "src/base/log.h"
#include "src/base/pe_list.h"

namespace railshmem {

void die_bad_context(const char* function, shmem_ctx_t ctx) noexcept {
  if (ctx == SHMEM_CTX_INVALID)
    die("%s: the context is SHMEM_CTX_INVALID; use SHMEM_CTX_DEFAULT or a context that was created", function);
  die("%s: %p is no context of this library, or one that was destroyed; use SHMEM_CTX_DEFAULT or a context that was "
      "created",
      function, static_cast<void*>(ctx));
}

void die_bad_team_pe(const char* function, int pe, int size) noexcept {
  die("%s: PE %d does not exist in the team of this context, which has %s", function, pe, all_pes(size).c_str());
}

}  // namespace railshmem
