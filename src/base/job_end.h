// SPDX-License-Identifier: BSD-3-Clause
// The end of a job before all PEs have finished, in one process of it: shmem_global_exit, an error, or news of either.
#pragma once

#include <cstdint>
#include <string>

namespace railshmem {

/// Status of a job that the library itself ends.
inline constexpr int kAbortStatus = 1;

/// What a PE hears when another one ends the job.
struct JobEnd {
  int status = kAbortStatus;
  bool wanted = false;  ///< by shmem_global_exit: no PE has failed
  std::string message;  ///< to be printed by all PEs; may be empty
};

/// What the library does at the end, set while it runs. Null members do nothing.
struct EndHooks {
  /// Tells the launcher and all PEs. An empty `why`: the end is wanted.
  void (*notify)(int status, const char* why) noexcept = nullptr;
  /// Whether the launcher kills this process as soon as notify() is called; then notify() comes last.
  bool (*notifying_kills)() noexcept = nullptr;
  /// Writes down or removes what this process would leave behind.
  enum class Cause : uint8_t { own, told };
  void (*tidy)(Cause cause) noexcept = nullptr;
};
/// One per process, the last one set wins.
void set_end_hooks(const EndHooks& hooks) noexcept;

/// Lets the first thread pass that ends the job, and that one again. Others wait for its end, which may take a while.
void claim_the_end() noexcept;
/// Whether some thread has passed claim_the_end(), and whether it was this one.
bool end_is_claimed() noexcept;
bool this_thread_ends() noexcept;
/// For a process that exits while one of its threads ends the job: returns when that thread leaves the rest to this
/// exit().
void wait_for_the_end() noexcept;

/// The ways of ending this process. docs/architecture.md has the sequence and its deadlines.
/// shmem_global_exit: all PEs are told, then this process ends by exit().
[[noreturn]] void end_wanted(int status) noexcept;
/// An error, which was printed: all PEs are told, then stdio is flushed.
[[noreturn]] void end_with_error(const char* why) noexcept;
/// Another PE has ended the job.
[[noreturn]] void end_as_told(const JobEnd& end) noexcept;

}  // namespace railshmem
