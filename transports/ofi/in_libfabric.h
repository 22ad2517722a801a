// SPDX-License-Identifier: BSD-3-Clause
// Calls of libfabric that may move data: (InLibfabric(), fi_recv(...)). libfabric is not built for ThreadSanitizer,
// which therefore does not see what orders its accesses. Its locks are seen. In other builds an InLibfabric does
// nothing.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_ignore_thread_begin();
extern "C" void __tsan_ignore_thread_end();
#endif

namespace railshmem::ofi {

/// ThreadSanitizer does not see what this thread reads and writes until the end of the statement. An object, since a
/// function around the call would be one more function on the way to the NIC.
struct InLibfabric {
#if defined(__SANITIZE_THREAD__)
  InLibfabric() noexcept {
    __tsan_ignore_thread_begin();
  }
  ~InLibfabric() {
    __tsan_ignore_thread_end();
  }
#else
  InLibfabric() noexcept {}
#endif
  InLibfabric(const InLibfabric&) = delete;
  InLibfabric& operator=(const InLibfabric&) = delete;
};

}  // namespace railshmem::ofi
