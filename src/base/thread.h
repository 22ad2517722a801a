// SPDX-License-Identifier: BSD-3-Clause
// Threads of the library: one that cannot start is an error that says what it was for and what refused it.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace railshmem {

/// Throws Error naming the thread, the call, the limits behind the refusal, and what to do.
[[noreturn]] void refuse_thread(const char* purpose, int error);

/// Starts a std::thread or std::jthread. `purpose` is for the message: "a proxy thread".
template <class Thread = std::thread, class... Call>
Thread start_thread(const char* purpose, Call&&... call) {
  try {
    return Thread(std::forward<Call>(call)...);
  } catch (const std::system_error& e) {
    refuse_thread(purpose, e.code().value());
  }
}

}  // namespace railshmem
