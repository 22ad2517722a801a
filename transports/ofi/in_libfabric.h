// SPDX-License-Identifier: BSD-3-Clause
// Calls of libfabric that may move data. libfabric is not built for ThreadSanitizer, which therefore does not see what
// orders its accesses. Its locks are seen. In other builds these are plain calls.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_ignore_thread_begin();
extern "C" void __tsan_ignore_thread_end();
#endif

namespace railshmem::ofi {

/// call(arguments...), with the accesses to memory unseen by ThreadSanitizer.
template <typename Call, typename... Arguments>
auto in_libfabric(Call call, Arguments... arguments) noexcept {
#if defined(__SANITIZE_THREAD__)
  struct Unseen {
    Unseen() noexcept { __tsan_ignore_thread_begin(); }
    ~Unseen() { __tsan_ignore_thread_end(); }
  } unseen;
#endif
  return call(arguments...);
}

}  // namespace railshmem::ofi
