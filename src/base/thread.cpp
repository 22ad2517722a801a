// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/thread.h"

#include "src/base/error.h"
#include "src/base/system_limits.h"

namespace railshmem {

void refuse_thread(const char* purpose, int error) {
  throw Error(text("cannot start %s: pthread_create failed: %s", purpose, task_refusal_text(error).c_str()));
}

}  // namespace railshmem
