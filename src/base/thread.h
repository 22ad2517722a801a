// SPDX-License-Identifier: BSD-3-Clause
// Threads of the library. docs/architecture.md lists them; tests/observe/check_threads.py compares the
// list with a running job.
#pragma once

#include <pthread.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "src/base/signal_actions.h"

namespace railshmem {

/// Throws Error naming the thread, the call, the limits behind the refusal, and what to do.
[[noreturn]] void refuse_thread(const char* purpose, int error);

/// What a thread is called in the kernel ("railshmem-" and up to 5 letters), and in errors ("a proxy thread").
struct ThreadName {
  std::string kernel;
  const char* purpose;
};

/// Marks the calling thread as one of the library's own, which never runs the program's exit handlers.
void enter_library_thread(int pe) noexcept;
bool is_library_thread() noexcept;

/// Starts a std::thread or std::jthread of the PE. Throws Error where it cannot start.
template <class Thread = std::thread, class Call>
Thread start_thread(const ThreadName& name, int pe, Call&& call) {
  const SignalsLeftToProgram in_new_thread;
  try {
    Thread thread([pe, call = std::forward<Call>(call)](auto&&... stop_token) {
      enter_library_thread(pe);
      call(std::forward<decltype(stop_token)>(stop_token)...);
    });
    pthread_setname_np(thread.native_handle(), name.kernel.c_str());
    return thread;
  } catch (const std::system_error& e) {
    refuse_thread(name.purpose, e.code().value());
  }
}

}  // namespace railshmem
