// SPDX-License-Identifier: BSD-3-Clause
// Whether the library runs in this process. All functions need the GIL, which protects what they read and write.
#pragma once

#include <string>

namespace railshmem::python {

/// The bytes of a new job's name, which one process makes and hands to all. RuntimeError where it cannot be made.
std::string unique_id();
constexpr size_t kUniqueIdBytes = 128;

/// This process's place in a job that needs no launcher.
struct Membership {
  std::string uid;  ///< kUniqueIdBytes
  int rank;
  int size;
};

/// Starts the library for several threads, in the job of the launcher where membership is null; collective.
/// RuntimeError where it runs, runs in the parent of this process, or cannot start.
void init(const Membership* membership);

/// Leaves the library; collective. RuntimeError where it does not run.
void finalize();

bool is_initialized() noexcept;

/// RuntimeError, with what to do, unless the library runs.
void require_running(const char* function);

/// Grows with every init(): handles of an earlier run are recognised by it.
unsigned run_number() noexcept;

/// ValueError unless pe is a PE of the world.
void require_pe(const char* function, int pe);

}  // namespace railshmem::python
