// SPDX-License-Identifier: BSD-3-Clause
// Calls of the library that may wait for other PEs.
#pragma once

#include <nanobind/nanobind.h>

namespace railshmem::python {

/// Lets other threads of Python run while the library waits. Where the main thread waits, Ctrl-C says what it waits in;
/// Python raises KeyboardInterrupt when the wait is over. A second Ctrl-C in one wait ends the process with status 130:
/// the other PEs may never come, and a collective that they take part in cannot be left.
class Waiting {
 public:
  /// `function` is the Python function, for messages; it must outlive this.
  explicit Waiting(const char* function) noexcept;
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  const bool in_main_thread_;
  const nanobind::gil_scoped_release released_;
};

/// Lets the waits of this process hear of Ctrl-C, behind Python's own handler; at the start of the library. Not where
/// Python does not handle SIGINT, and not under oshrun, which ends the job at the first Ctrl-C. A program that sets a
/// handler afterwards (signal.signal) takes Ctrl-C over.
void receive_interrupts(int pe);

}  // namespace railshmem::python
