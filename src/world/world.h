// SPDX-License-Identifier: BSD-3-Clause
// Everything one PE owns. The order of the members is the order of setup; destruction is its mirror.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/active/active_sets.h"
#include "src/executor/executors.h"
#include "src/globals/shared_globals.h"
#include "src/gpu/device_memory.h"
#include "src/gpu/device_side.h"
#include "src/gpu/header_layout.h"
#include "src/gpu/heap_choice.h"
#include "src/gpu/kernel_channels.h"
#include "src/gpu/kernel_watch.h"
#include "src/gpu/late_copier.h"
#include "src/gpu/peer_buffers.h"
#include "src/gpu/stream_side.h"
#include "src/gpu/symmetric_buffers.h"
#include "src/heap/heap.h"
#include "src/heap/load_store.h"
#include "src/heap/node_arena.h"
#include "src/observe/observer.h"
#include "src/plan/choice.h"
#include "src/plugin/bootstrap.h"
#include "src/plugin/flush.h"
#include "src/plugin/network.h"
#include "src/rma/context_table.h"
#include "src/rma/liveness.h"
#include "src/rma/lock_turns.h"
#include "src/rma/pe_state.h"
#include "src/stream/node_collectives.h"
#include "src/topology/node_layout.h"
#include "src/world/death_watch.h"
#include "src/world/gpu_rails.h"
#include "src/world/heap_size.h"
#include "src/world/identity.h"
#include "src/world/symmetric_memory.h"
#include "src/world/teams.h"
#include "src/world/user_buffers.h"

namespace railshmem {

struct WorldView;

struct WorldOptions {
  bool several_threads_call = false;     ///< SHMEM_THREAD_MULTIPLE
  bool pes_are_threads = false;          ///< PEs share one process: no symmetric globals, no process to watch
  const cuda::Driver* driver = nullptr;  ///< null: no GPU is used
  bool has_kernels = false;              ///< some unit of the program has kernels that use the library
  std::function<void(const WorldView*)> publish_view = {};  ///< gives kernels their view; null: there is no job
};

class World {
 public:
  /// Collective over the PEs of `bootstrap`, which must outlive this. Throws Error.
  World(const Env& env, Bootstrap& bootstrap, const WorldOptions& options);
  /// Collective: takes down what the constructor set up. Returns when no PE needs this one any more.
  ~World();
  World(const World&) = delete;

  /// ~World calls `told` before it takes anything down: when all PEs have come there, or when waiting for them failed.
  void when_all_finish(std::function<void()> told) { all_finish_ = std::move(told); }
  PeState& state() noexcept { return state_; }
  SymmetricMemory& memory() noexcept { return *memory_; }
  UserBuffers& user_buffers() noexcept { return user_buffers_; }
  Teams& teams() noexcept { return *teams_; }
  ActiveSets& active_sets() noexcept { return *active_sets_; }
  void sync(const char* function) noexcept;
  void barrier(const char* function) noexcept;
  Bootstrap& bootstrap() noexcept { return bootstrap_; }
  /// The heap in device memory; null where the heap is the host's, or the program has not chosen its GPU.
  const DeviceMemory* device_memory() const noexcept {
    return device_memory_ && device_memory_->attached() ? device_memory_.get() : nullptr;
  }
  /// What stream-ordered calls use; null where there is no GPU, or the library has no kernels.
  StreamSide* streams() noexcept { return stream_side_.get(); }
  /// Collectives in stream order inside a node; null where streams() is.
  NodeCollectives* node_collectives() noexcept { return node_collectives_.get(); }
  /// Collectives in stream order between nodes; null where streams() is, and without a network.
  Executors* executors() noexcept { return executors_.get(); }
  /// Where peers see this PE's GPU memory; null until the program has chosen its GPU.
  PeerBuffers* peer_buffers() noexcept { return peer_buffers_.get(); }
  /// Why streams() is null, and what to do.
  std::string why_no_streams() const;
  /// Collective: takes the current GPU for the heap, if the heap is to be in device memory and has no GPU yet. Throws
  /// Error.
  void attach_gpu();
  /// Collective: make device memory of the program symmetric, and undo this. Throw Error on all PEs.
  void* register_symmetric(void* address, size_t nbytes);
  void unregister_symmetric(const void* symmetric, size_t nbytes);
  /// The settings in force, for SHMEM_INFO=1: bootstrap, node, heap, transports.
  std::string describe() const;

 private:
  bool may_need_network() const;
  StreamAreas stream_areas() const noexcept { return heap_choice_.device ? StreamAreas::made : StreamAreas::none; }
  void make_heap();
  void reach_node_peers();
  void make_device_memory();
  void show_kernels();
  void place_proxy(const std::string& gpu);
  size_t device_heap_limit() const noexcept;  ///< bytes that one PE's heap may grow to
  size_t host_slot() const noexcept;          ///< of this PE among those of its host
  void make_stream_side(const WorldView& view);
  void stay_for_graphs() noexcept;
  void show_tables(const HeaderLayout& layout);
  HeaderLayout header_layout() const;
  void start_network();
  NetworkConfig network_config() const;
  void fill_state();
  void make_active_sets();

  Env env_;
  const WorldOptions options_;
  std::function<void()> all_finish_;  ///< see when_all_finish(); may be empty
  Bootstrap& bootstrap_;
  const Choice choice_;
  const HeapChoice heap_choice_;
  const FlushChoice flush_;
  std::vector<Identity> identities_;
  NodeLayout layout_;
  std::vector<int32_t> slots_;                   ///< slot of each PE when the node's PEs are not consecutive
  std::unique_ptr<observe::Observer> observer_;  ///< null unless SHMEM_STATS, SHMEM_TRACE or SHMEM_CHECK ask for it
  std::unique_ptr<LoadStore> load_store_;
  HeapSize heap_size_;
  std::unique_ptr<NodeArena> arena_;
  std::unique_ptr<Heap> heap_;
  std::unique_ptr<DeviceMemory> device_memory_;        ///< null: the heap is the host's
  std::unique_ptr<DeviceSide> device_side_;            ///< null until the program has chosen its GPU
  std::unique_ptr<SymmetricBuffers> buffers_;          ///< null until the program has chosen its GPU
  std::unique_ptr<StreamSide> stream_side_;            ///< null until then, and in a library without kernels
  std::unique_ptr<NodeCollectives> node_collectives_;  ///< null where stream_side_ is
  std::string no_stream_side_;                         ///< why stream_side_ is null although there is a GPU
  std::unique_ptr<KernelTables> kernel_tables_;        ///< null until then, and where no kernels use the library
  std::unique_ptr<KernelChannels> kernel_channels_;    ///< null until then, and where no kernels use the library
  const std::unique_ptr<LateCopiers> copiers_ = std::make_unique<LateCopiers>();
  std::unique_ptr<SharedGlobals> globals_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<GpuRails> gpu_rails_;  ///< null until the program has chosen its GPU, and without a network
  std::string proxy_place_;              ///< for describe(); empty: the proxy threads run where the PE does
  std::unique_ptr<Liveness> liveness_;
  std::unique_ptr<KernelWatch> kernel_watch_;  ///< null until the program has chosen its GPU
  std::unique_ptr<PeerBuffers> peer_buffers_;  ///< null until the program has chosen its GPU
  std::unique_ptr<DeathWatch> death_watch_;    ///< null without a network, or without a limit of time
  std::unique_ptr<LockTurns> lock_turns_;
  PeState state_;
  UserBuffers user_buffers_{state_};
  std::unique_ptr<ContextTable> contexts_;
  size_t lots_offset_ = 0;             ///< of the host heap's lots from its base
  std::unique_ptr<Lots> host_lots_;    ///< null without a network
  std::unique_ptr<Lots> device_lots_;  ///< null until the program has chosen its GPU, and in a job of one node
  std::unique_ptr<Teams> teams_;
  std::unique_ptr<Executors> executors_;  ///< see executors()
  std::unique_ptr<ActiveSets> active_sets_;
  std::unique_ptr<SymmetricMemory> memory_;
};

}  // namespace railshmem
