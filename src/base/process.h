// SPDX-License-Identifier: BSD-3-Clause
// The state of the process that no World owns: it exists before shmem_init, between two jobs, in fork handlers and
// while the process exits. docs/architecture.md ("Process-wide state") says who uses which part.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "src/base/align.h"
#include "src/base/job_end.h"
#include "src/base/log.h"

namespace railshmem {

// Of layers above: Process only has their addresses.
class DeviceViews;
struct ExecutorsUntilExit;
struct ParkTable;
struct PeState;
namespace cuda {
struct Driver;
}
namespace job {
struct Job;
}
namespace loopback {
class Registry;
}
namespace observe {
struct Living;
}
namespace ofi {
struct LibfabricCalls;
struct ShmClaims;
}  // namespace ofi
namespace pmi {
struct FinalizeAtExit;
}
namespace tcp {
struct Libcrypto;
struct OpenIds;
}  // namespace tcp

/// A place for an object that its first use makes, in any thread and also before main(). It is never destroyed: threads
/// of the library and exit handlers may use it while the process exits.
template <class T>
class MadeOnce {
 public:
  /// `make` returns a pointer from new; where that is null, so is the result, and the next call makes it.
  template <class Make>
  T* get(Make&& make) {
    // acquire: pairs with the release below; the object is complete once its address is here.
    if (T* const made = object_.load(std::memory_order_acquire)) [[likely]]
      return made;
    const std::lock_guard lock(making_);
    if (!object_.load(std::memory_order_relaxed)) object_.store(make(), std::memory_order_release);
    return object_.load(std::memory_order_relaxed);
  }
  T& get() {
    return *get([] { return new T(); });
  }

 private:
  std::atomic<T*> object_{nullptr};
  std::mutex making_;
};

/// Objects that outlive their owner, because graphs or streams of the program may still use their memory. Never
/// destroyed: the GPU's context may be gone by then.
class KeptObjects {
 public:
  template <class T>
  void add(T&& object) {
    auto* const node = new Node<std::decay_t<T>>{{first_.load()}, std::forward<T>(object)};
    while (!first_.compare_exchange_weak(node->next, node)) {
    }
  }

 private:
  struct Link {
    Link* next;
  };
  template <class T>
  struct Node : Link {
    T object;
  };
  std::atomic<Link*> first_{nullptr};
};

/// Whole pages of this process and the memfd that holds, or will hold, their contents.
struct PageRange {
  std::byte* base = nullptr;
  size_t nbytes = 0;
  size_t initialised_nbytes = 0;  ///< from `base`: pages that may come from the executable's file
  int protection = 0;
  int fd = -1;
};

/// Why this process has no PE.
enum class Absence : uint8_t { not_started, finalized, forked };

struct Process {
  struct Log {
    std::atomic<LogLevel> level{LogLevel::warn};
    std::atomic<int> pe{-1};  ///< of threads that have named no PE themselves
    std::atomic<uint64_t> warnings{0};
  };

  /// The end of the job in this process: src/base/job_end.cpp.
  struct End {
    enum class Exit : uint8_t { not_by_us, exiting, exiting_and_notifies };
    /// Whose exit() it is: the one that the program has begun, whose handlers are running, or that of the thread that
    /// ends the process.
    enum class Exiting : uint8_t { nobody, program, ender };

    std::atomic<decltype(EndHooks::notify)> notify{nullptr};
    std::atomic<decltype(EndHooks::notifying_kills)> notifying_kills{nullptr};
    std::atomic<decltype(EndHooks::tidy)> tidy{nullptr};
    std::atomic<bool> claimed{false};
    std::atomic<int> status{kAbortStatus};  ///< read by a signal handler and by the last exit handler
    std::atomic<Exit> exit{Exit::not_by_us};
    std::atomic<Exiting> exiting{Exiting::nobody};
  };

  /// Read and written by fork handlers, with __atomic builtins where two threads may meet.
  struct Fork {
    bool guarded = false;  ///< the handlers are registered
    PageRange range;       ///< that fork() copies; fd is -1 if none exists
    int under_way = 0;     ///< threads between their prepare handler and their parent handler
  };

  /// src/globals/thread_park.cpp
  struct Park {
    ParkTable* table = nullptr;  ///< read by a signal handler; written only while no globals are being moved
    int sanitizer_thread = 0;    ///< found out once, because it takes long
  };

  /// Warnings that are given once.
  struct Warned {
    std::atomic<bool> second_finalize{false};
    std::atomic<bool> refused_connections{false};
    std::atomic<bool> outside_active_set{false};
    std::atomic<bool> own_memory{false};
  };

  /// Numbers that a process never uses twice, also not after shmem_finalize and another shmem_init.
  struct Numbers {
    std::atomic<uintptr_t> contexts{0};
    std::atomic<uint32_t> teams{0};
    std::atomic<uint64_t> observers{0};
    std::atomic<uint64_t> pmi_exchanges{0};  ///< of PMI or PMIx: a key can be put only once per job
    std::atomic<uint32_t> ofi_names{0};
  };

  /// The PE that all threads act for; null before init and after finalize (threads as PEs bind their own). Every call
  /// reads it, so it has a cache line of its own.
  /// relaxed: constant between init and finalize, and atomic for calls that come while another thread finalizes.
  alignas(kCacheLine) std::atomic<PeState*> pe_state{nullptr};

  alignas(kCacheLine) Log log;
  std::atomic<Absence> absence{Absence::not_started};
  End end;
  std::atomic<std::optional<std::string> (*)() noexcept> death_detector{nullptr};
  Fork fork;
  Park park;
  Warned warned;
  Numbers numbers;
  std::mutex latest_collective;  ///< the record of a PE's newest collective call: src/check/collective.cpp
  std::once_flag provider_defaults;

  MadeOnce<job::Job> job_state;
  MadeOnce<observe::Living> observers;
  MadeOnce<DeviceViews> device_views;
  MadeOnce<const cuda::Driver> cuda_driver;
  MadeOnce<const ofi::LibfabricCalls> libfabric;
  MadeOnce<const tcp::Libcrypto> libcrypto;
  MadeOnce<tcp::OpenIds> tcp_ids;
  MadeOnce<pmi::FinalizeAtExit> pmi_at_exit;
  MadeOnce<ofi::ShmClaims> shm_claims;
  MadeOnce<loopback::Registry> loopback_pes;
  MadeOnce<ExecutorsUntilExit> executors;
  KeptObjects kept;
};
static_assert(std::is_trivially_destructible_v<Process>,
              "threads and exit handlers use it until the process has ended");

/// Every library that has src/base in it has one: librailshmem.so, and each plug-in for its own part. A plain object,
/// so that a handler of fork() or of a signal reaches it without a call.
extern constinit Process g_process;

}  // namespace railshmem
