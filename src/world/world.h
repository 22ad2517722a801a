// SPDX-License-Identifier: BSD-3-Clause
// Everything one PE owns. Setup and teardown are a list of stages: setup_stages().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/active/active_sets.h"
#include "src/globals/shared_globals.h"
#include "src/gpu/device_memory.h"
#include "src/gpu/header_layout.h"
#include "src/gpu/heap_choice.h"
#include "src/gpu/late_copier.h"
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
#include "src/topology/node_layout.h"
#include "src/world/attached_gpu.h"
#include "src/world/heap_size.h"
#include "src/world/identity.h"
#include "src/world/job_watch.h"
#include "src/world/stages.h"
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
  std::function<void()> close_to_calls =
      {};  ///< all PEs have come to the end: nothing may be called any more; may be empty
  std::function<void(const WorldView*)> publish_view = {};  ///< gives kernels their view; null: there is no job
  std::function<void(const char* stage)> after_stage = {};  ///< tests make a stage of setup fail: throws Error
};

class World {
 public:
  /// Collective over the PEs of `bootstrap`, which must outlive this. Throws Error.
  World(const Env& env, Bootstrap& bootstrap, const WorldOptions& options);
  /// Does finish(), then takes down what the constructor set up.
  ~World();
  World(const World&) = delete;

  /// Collective: the job ends. Returns when no PE needs this one any more. What calls of other threads still use stays
  /// until the destructor. Once; ends the process where it fails.
  void finish() noexcept;
  /// After finish(): whether other threads may still be inside calls, which end the job with a message once they wait.
  /// Where they may, everything that such calls cannot harm is given back: rails, threads, global objects, memory
  /// pages. The rest must stay.
  bool may_be_in_use() noexcept;

  /// finish() calls `told` before it takes anything down: when all PEs have come there, or when waiting for them
  /// failed.
  void when_all_finish(std::function<void()> told) { all_finish_ = std::move(told); }
  PeState& state() noexcept { return state_; }
  SymmetricMemory& memory() noexcept { return *memory_; }
  UserBuffers& user_buffers() noexcept { return user_buffers_; }
  Teams& teams() noexcept { return *teams_; }
  ActiveSets& active_sets() noexcept { return *active_sets_; }
  void sync(const char* function) noexcept;
  void barrier(const char* function) noexcept;
  Bootstrap& bootstrap() noexcept { return bootstrap_; }
  /// All that exists only with a GPU; null where the heap is the host's, or the program has not chosen its GPU.
  AttachedGpu* gpu() noexcept { return gpu_attached_ ? gpu_.get() : nullptr; }
  /// The heap in device memory; null where gpu() is.
  const DeviceMemory* device_memory() const noexcept { return gpu_attached_ ? device_memory_.get() : nullptr; }
  /// What stream-ordered calls use; null where there is no GPU, or the library has no kernels.
  StreamSide* streams() noexcept { return gpu_attached_ ? gpu_->streams() : nullptr; }
  /// Why streams() is null, and what to do.
  std::string why_no_streams() const;
  /// Collective: takes the current GPU for the heap, if the heap is to be in device memory and has no GPU yet. Throws
  /// Error on all PEs where one cannot, and then with every later call.
  void attach_gpu();
  /// Collective: make device memory of the program symmetric, and undo this. Throw Error on all PEs.
  void* register_symmetric(void* address, size_t nbytes);
  void unregister_symmetric(const void* symmetric, size_t nbytes);
  /// The settings in force, for SHMEM_INFO=1: bootstrap, node, heap, transports.
  std::string describe() const;

 private:
  std::vector<Stage> setup_stages();
  void exchange_with_all();
  void make_globals();
  void make_teams();
  void make_symmetric_memory();
  void attach_chosen_gpu();
  void drop_device_memory() noexcept;
  void drop_state() noexcept;
  bool may_need_network() const;
  std::string describe_unused() const;
  StreamAreas stream_areas() const noexcept { return heap_choice_.device ? StreamAreas::made : StreamAreas::none; }
  void make_heap();
  void make_device_memory();
  void place_proxy(const std::string& gpu);
  size_t device_heap_limit() const noexcept;  ///< bytes that one PE's heap may grow to
  size_t host_slot() const noexcept;          ///< of this PE among those of its host
  void attach_together();
  void make_gpu();
  void close_to_calls() noexcept;
  void stay_for_graphs() noexcept;
  HeaderLayout header_layout() const;
  void start_network();
  NetworkConfig network_config() const;
  void fill_state();
  void make_active_sets();

  Env env_;
  const WorldOptions options_;
  std::function<void()> all_finish_;  ///< see when_all_finish(); may be empty
  bool finished_ = false;
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
  std::string heap_place_;  ///< where the heap begins, and whether that is one address on all PEs
  std::unique_ptr<NodeArena> arena_;
  std::unique_ptr<Heap> heap_;
  std::unique_ptr<DeviceMemory> device_memory_;  ///< null: the heap is the host's
  std::unique_ptr<Liveness> liveness_;           // before gpu_, whose watch over kernels asks for dead peers
  std::unique_ptr<AttachedGpu> gpu_;             ///< null until the program has chosen its GPU
  bool gpu_attached_ = false;                    ///< gpu_ is whole
  std::string attach_failure_;                   ///< why it never will be
  std::unique_ptr<LateCopiers> copiers_ = std::make_unique<LateCopiers>();
  std::unique_ptr<SharedGlobals> globals_;
  std::unique_ptr<Network> network_;
  std::string proxy_place_;              ///< for describe(); empty: the proxy threads run where the PE does
  std::unique_ptr<JobWatch> job_watch_;  ///< null in jobs of one PE, and where PEs are threads
  std::unique_ptr<LockTurns> lock_turns_;
  PeState state_;
  UserBuffers user_buffers_{state_};
  std::unique_ptr<ContextTable> contexts_;
  size_t scratch_slots_offset_ = 0;                   ///< of the host heap's scratch slots from its base
  std::unique_ptr<ScratchSlots> host_scratch_slots_;  ///< null without a network
  std::unique_ptr<Teams> teams_;
  std::unique_ptr<ActiveSets> active_sets_;
  std::unique_ptr<SymmetricMemory> memory_;
  Stages stages_;
};

}  // namespace railshmem
