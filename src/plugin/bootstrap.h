// SPDX-License-Identifier: BSD-3-Clause
// Contract: how the PEs of a job find each other and agree before any transport exists. Cold path only.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/base/env.h"
#include "src/base/job_end.h"

namespace railshmem {

/// All PEs make one sequence of calls of allgather() and barrier(). Both throw Error naming the PE that does not answer
/// within SHMEM_TIMEOUT. One thread at a time uses an object; any thread may call notify_end(), end_told(),
/// failure(), dead_pes() and await_news().
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual int pe() const noexcept = 0;
  virtual int npes() const noexcept = 0;
  /// Gathers `mine` of every PE, of one size, into `all`, in PE order.
  virtual void allgather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual void barrier() = 0;
  /// Tells all PEs and the launcher that the job ends with `status`. `why`: the message that was printed; empty where
  /// the program wants the end. Returns when the news is ahead of the end of this process, on its way to every PE, or
  /// when that takes too long.
  virtual void notify_end(int status, std::string_view why) noexcept = 0;
  /// Whether the launcher answers notify_end() by killing all processes, this one included.
  virtual bool notifying_kills() const noexcept { return false; }
  /// The end of the job, if another PE has told it. Asked before failure(): a wanted end looks like a death otherwise.
  virtual std::optional<JobEnd> end_told() noexcept { return std::nullopt; }
  /// Sleeps until something has come that end_told() or failure() should look at, `wake` is readable or the time is
  /// over.
  virtual void await_news(int wake, int timeout_ms) noexcept {  // here, because plug-ins derive from this class
    pollfd only{wake, POLLIN, 0};
    poll(&only, 1, timeout_ms);
  }
  /// A peer known to have died, as a sentence naming it; empty while none has. Cheap enough for every 10 ms.
  virtual std::optional<std::string> failure() noexcept { return std::nullopt; }
  /// The PEs that are known to have died, in jobs whose PEs go on without them. May know of none where failure() does.
  virtual std::vector<int> dead_pes() noexcept { return {}; }
  /// Closes, in a forked child, the descriptors whose end tells peers that this process has ended, because the child
  /// may live on. The child may use nothing else of this object. Any thread of the parent may have been inside it at
  /// the fork. Async-signal-safe.
  virtual void abandon() noexcept {}
  /// Whether it may be gone before the next start, which makes a new one then.
  virtual bool ends_with_world() const noexcept { return false; }
  /// Whether the launcher has asked this process to end. If so, no message about its early end is needed.
  virtual bool told_to_end() noexcept { return false; }
};

/// What the caller of shmemx_init_attr gave; everything empty for a plain shmem_init.
struct BootstrapRequest {
  void* mpi_comm = nullptr;         ///< address of an MPI_Comm
  const char* unique_id = nullptr;  ///< 128 bytes from make_unique_id(), with pe and npes
  int pe = -1;
  int npes = -1;
  /// Makes a bootstrap of the same PEs that outlives what the given one stands on, such as the program's MPI.
  /// Collective over that one. Throws Error.
  std::function<std::unique_ptr<Bootstrap>(Bootstrap&)> make_heir = {};
};

/// Picks and starts the bootstrap that SHMEM_BOOTSTRAP or the launcher's environment asks for.
/// Defined in bootstrap/registry.cpp. Throws Error naming what is missing.
std::unique_ptr<Bootstrap> make_bootstrap(const Env& env, const BootstrapRequest& request);

/// Fills 128 bytes that let other processes join through the tcp bootstrap. The calling process must be PE 0.
void make_unique_id(const Env& env, char (&id)[128]);

/// Every PE's value of a plain struct, in PE order.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> exchange(Bootstrap& bootstrap, const T& mine) {
  std::vector<T> all(static_cast<size_t>(bootstrap.npes()));
  bootstrap.allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

/// Every PE's bytes, of different lengths, in PE order.
std::vector<std::vector<std::byte>> exchange_bytes(Bootstrap& bootstrap, std::span<const std::byte> mine);

}  // namespace railshmem
