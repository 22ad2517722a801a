// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/thread.h"

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/system_limits.h"

namespace railshmem {
namespace {

thread_local bool t_library_thread = false;

}  // namespace

void enter_library_thread(int pe) noexcept {
  t_library_thread = true;
  set_log_pe(pe);
}
bool is_library_thread() noexcept {
  return t_library_thread;
}

void refuse_thread(const char* purpose, int error) {
  throw Error(text("cannot start %s: pthread_create failed: %s", purpose, task_refusal_text(error).c_str()));
}

}  // namespace railshmem
