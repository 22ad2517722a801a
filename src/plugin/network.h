// SPDX-License-Identifier: BSD-3-Clause
// Contract: how to reach symmetric memory that is not reachable by load and store.
//
// Control calls are virtual and throw. The data path is the free functions below: they are noexcept, and
// transports/registry.cpp binds them to the one network of the job without a virtual call. An operation that cannot
// be done (peer dead, no answer within SHMEM_TIMEOUT) ends the job with a message naming operation and PE (die()).
#pragma once

#include <sched.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/env.h"
#include "src/plugin/copier.h"
#include "src/plugin/flush.h"
#include "src/plugin/op.h"
#include "src/plugin/segment.h"

namespace railshmem {

namespace observe {
class Observer;
}

/// The network interfaces of one PE.
struct RailsNow {
  int all = 0;
  int alive = 0;     ///< over which some peer can be reached now
  double speed = 0;  ///< of the first, in bytes per second, as its interface says; 0: unknown
};

class Network {
 public:
  explicit Network(TransportKind which) noexcept : kind(which) {}
  virtual ~Network() = default;
  Network(const Network&) = delete;

  /// Registers this PE's segments. Returns the descriptor: the bytes every peer needs to reach it (any length).
  virtual std::vector<std::byte> attach(std::span<const Segment> segments) = 0;
  /// Takes every PE's descriptor, in PE order; connections themselves may be made at first use.
  virtual void connect(std::span<const std::vector<std::byte>> descriptors) = 0;
  /// Starts the proxy threads. From now on the first of them makes this PE a live target and serves `channels`.
  virtual void start(std::span<Channel* const> channels) = 0;
  /// Serves more channels from now on, until stop(): kernels' channels come when the program has chosen its GPU. The
  /// proxy threads take channels in turn.
  virtual void add_channels(std::span<Channel* const> channels) = 0;
  /// Memory of NetworkConfig::payload_nbytes that rails read, and whose addresses commands of channels may name as a
  /// source; empty where rails read the device heap themselves. Zero at first. From attach() until the network's end;
  /// pinned once its copiers have a GPU.
  virtual std::span<std::byte> payloads() const noexcept { return {}; }
  /// Runs `task` on each proxy thread, one after the other, between two steps of the thread: for changes that a thread
  /// can make only to itself. Returns when all have run it. Called between start() and stop(). Throws what `task`
  /// throws.
  virtual void run_on_proxies(const std::function<void()>& task) = 0;
  /// Stops and joins the proxy threads; called after the last barrier of the job. Errors of peers that leave are
  /// ignored from prepare_stop() on.
  virtual void prepare_stop() noexcept = 0;
  virtual void stop() noexcept = 0;
  /// After stop(), where threads of the program may still be inside data-path calls: gives everything of the fabric
  /// back. Such a call, and any later one, ends the job with a message. Only the destructor may follow.
  virtual void close() noexcept {}

  /// From now on several threads may make data-path calls at once, as with `threads_share_host_calls`. Called by the
  /// only thread that has made any so far, before it starts another.
  virtual void share_host_calls() noexcept = 0;

  virtual NetContext* make_context() = 0;
  virtual void drop_context(NetContext* context) noexcept = 0;

  /// Prepares a buffer outside the segments for use as source or destination, until unregister_buffer() of its address.
  /// Its operations must have completed by then. Buffers do not overlap. Throws Error.
  virtual void register_buffer(std::span<const std::byte> bytes) = 0;
  virtual void unregister_buffer(const std::byte* base) = 0;

  // ---- device heaps that rails reach themselves; other heaps are staged. Collective, in this order ----------------

  /// Whether rails of this PE take extents.
  virtual bool takes_extents() const noexcept = 0;
  /// Registers this PE's memory of the next extent. Returns the descriptor for all PEs. Throws Error.
  virtual std::vector<std::byte> expose(const DeviceExtent& extent) = 0;
  /// Takes every PE's descriptor, in PE order; empty for a PE that stages this extent. From now on rails reach the
  /// extent.
  virtual void learn(const DeviceExtent& extent, std::span<const std::vector<std::byte>> descriptors) = 0;
  /// Sets how data that rails bring to this PE's GPU memory becomes visible. Called once the first extent is learned,
  /// before anybody uses it. `offset` is that of 8 bytes of the extent that only serve the flush.
  virtual void use_flush(const FlushChoice& choice, uint64_t offset) = 0;

  /// `pe` has died, and this PE goes on (SHMEM_SURVIVE): what kernels have under way to it ends, and so does what they
  /// begin later, though nothing reaches it. Host calls to it end this PE, as ever. Any thread; returns at once.
  virtual void lose_peer(int pe) noexcept = 0;

  /// Any thread, between start() and stop().
  virtual RailsNow rails_now() = 0;
  /// What each rail has carried, one line a rail, for SHMEM_STATS=1. After stop().
  virtual std::vector<std::string> rail_rows() = 0;
  /// Lines for SHMEM_INFO=1 and shmem_info: provider, interface, modes, limits.
  virtual std::string describe() const = 0;

  const TransportKind kind;
};

/// What World gives a network. The network copies only pointers; their targets outlive it.
struct NetworkConfig {
  const Env* env;
  int pe;
  int npes;
  bool threads_share_host_calls;          ///< several user threads may call at once (SHMEM_THREAD_MULTIPLE)
  bool several_hosts = false;             ///< PEs run on several hosts: an address valid only on this host will not do
  bool oversubscribed = false;            ///< fewer CPUs than threads of the PEs of this host: spin little
  observe::Observer* observer = nullptr;  ///< records what the engine does; null: nothing is recorded
  /// CPUs that each PE of this host may run on, in PE order, and this PE's place among these PEs. The PEs share out the
  /// host's NICs by them. Empty: this PE is alone.
  std::vector<cpu_set_t> host_cpus = {};
  size_t host_slot = 0;
  MakeCopier make_copier = {};  ///< for segments of MemoryKind::staged; may be empty without such segments
  FlushChoice flush = {};
  /// Addresses of the device heap, if there is one. Where there is one, rails that reach GPU memory are wanted.
  size_t device_heap_nbytes = 0;
  bool device_heap() const noexcept { return device_heap_nbytes > 0; }
  uint64_t flush_offset = 0;  ///< of 8 bytes of the heap's header that only serve the flush
  size_t payload_nbytes = 0;  ///< of Network::payloads()
};

/// Lines for SHMEM_INFO=1 and shmem_info: the network interfaces that this PE uses, those that it does not use, and
/// why. Throws the Errors of make_network().
std::string describe_rails(const NetworkConfig& config);

/// The network that SHMEM_TRANSPORT allows, or null when it allows none. Defined in transports/registry.cpp.
std::unique_ptr<Network> make_network(const NetworkConfig& config);

// ---- data path; the range was checked -----------------------------------------------------------------------------

/// Starts a put, get, put_signal, signal or AMO. Returns when the memory at `op.local` is the caller's again
/// (Local::awaited), or at once (Local::lent); the rest is complete at the context's quiet. The signal of a put_signal
/// is never visible before the data. The target's CPU executes an AMO once, so that it is atomic with the atomics of
/// the target's node. Uses `op` up.
void net_issue(Network&, Op&& op) noexcept;
/// Sends a flag of the library: the target raises the flag's 8 bytes to `value` (release), and never lowers them. No
/// quiet waits for a flag.
void net_flag(Network&, Remote to, uint64_t value) noexcept;
/// Hints for later operations of this context (OpenSHMEM 1.6 section 9.9). `batch` once given stays; total_ops may be
/// null. An operation that a batch holds back leaves with the next operation, wait or look of the proxy thread, and at
/// stop.
void net_session_start(Network&, NetContext&, bool batch, const size_t* total_ops) noexcept;
void net_session_stop(Network&, NetContext&) noexcept;
/// Orders all earlier operations of this context before all later ones, for each target. Returns at once: a later
/// operation waits where it must, for its own target only.
void net_fence(Network&, NetContext&) noexcept;
/// Returns when all operations of this context are complete at their targets and all fetched data has arrived.
void net_quiet(Network&, NetContext&) noexcept;
/// Returns when all operations of this context that target `pe` are complete and their fetched data has arrived.
void net_quiet(Network&, NetContext&, int pe) noexcept;
/// Whether net_quiet() would return at once; then what it promises holds. Takes no step.
bool net_is_quiet(const NetContext&) noexcept;
/// One bounded step of progress by a thread that waits for something; never blocks. True when something happened.
bool net_progress(Network&) noexcept;

}  // namespace railshmem
