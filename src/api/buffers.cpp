// SPDX-License-Identifier: BSD-3-Clause
// Buffers that the program allocated itself: registered ahead of their use, or made symmetric.
#include "shmemx.h"
#include "src/api/job.h"
#include "src/base/error.h"
#include "src/base/guard.h"

using namespace railshmem;

namespace {

UserBuffers& buffers(const char* function) {
  return job::must_run(function).user_buffers();
}

}  // namespace

extern "C" {

int shmemx_buffer_register(void* addr, size_t nbytes) {
  return guard("shmemx_buffer_register", [&] { buffers("shmemx_buffer_register").add(addr, nbytes); });
}

int shmemx_buffer_unregister(void* addr) {
  return guard("shmemx_buffer_unregister", [&] { buffers("shmemx_buffer_unregister").remove(addr); });
}

void shmemx_buffer_unregister_all(void) {
  guard("shmemx_buffer_unregister_all", [] { buffers("shmemx_buffer_unregister_all").remove_all(); });
}

void* shmemx_buffer_register_symmetric(void* addr, size_t nbytes, int flags) {
  constexpr const char* name = "shmemx_buffer_register_symmetric";
  void* symmetric = nullptr;
  guard(name, [&] {
    if (flags != 0) throw Error(text("flags are 0x%x; none are known, pass 0", static_cast<unsigned>(flags)));
    symmetric = job::must_run(name).register_symmetric(addr, nbytes);
  });
  return symmetric;
}

int shmemx_buffer_unregister_symmetric(void* addr, size_t nbytes) {
  constexpr const char* name = "shmemx_buffer_unregister_symmetric";
  return guard(name, [&] { job::must_run(name).unregister_symmetric(addr, nbytes); });
}
}
