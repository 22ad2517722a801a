// SPDX-License-Identifier: BSD-3-Clause
// The setup of a World: its stages, what they make, and their undo.
#include <algorithm>
#include <utility>

#include "src/base/align.h"
#include "src/base/env.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/collective/control_block.h"
#include "src/heap/common_address.h"
#include "src/rma/lock.h"
#include "src/world/node_reach.h"
#include "src/world/observations.h"
#include "src/world/world.h"

namespace railshmem {
namespace {

// Half of a scratch slot takes what other nodes send. Scratch slots in host memory cost memory only where teams use
// them.
constexpr size_t kHostScratchSlotBytes = size_t{8} << 20;
constexpr size_t kHostScratchSlots = 4;

/// A kernel does not start without a GPU, and CUDA says so only to a program that asks.
void warn_without_gpu(const HeapChoice& choice, const std::vector<Identity>& identities, int pe) {
  if (!choice.lacks_gpu) return;
  const size_t me = static_cast<size_t>(pe);
  if (me > 0 && identities[me - 1].host == identities[me].host) return;  // a PE of this host has said it
  log_warn(
      "this program has kernels that use the library, but its machine has no GPU or no CUDA driver (libcuda.so.1) that "
      "works: no kernel will start, and the heap is in host memory; look at nvidia-smi, or set SHMEM_HEAP_KIND=host if "
      "the program runs without its kernels");
}

}  // namespace

World::World(const Env& env, Bootstrap& bootstrap, const WorldOptions& options)
    : env_(env),
      options_(options),
      bootstrap_(bootstrap),
      choice_(env.collectives),
      heap_choice_(choose_heap(env, options.driver, options.has_kernels)),
      flush_(GpuRails::flush_at_start(env, heap_choice_.device)),
      stages_(setup_stages()) {
  stages_.setup(options_.after_stage);
}

/// What each stage makes and takes down. GPUs come last, as only then all else is there for their kernels. They leave
/// with the device memory, which the network's threads use until they end.
std::vector<Stage> World::setup_stages() {
  return {
      {"identities", [this] { exchange_with_all(); }},
      {"records", [this] { observer_ = make_observer(env_, bootstrap_.pe()); }, [this] { observer_.reset(); }},
      {"load and store", [this] { load_store_ = make_load_store(env_); }, [this] { load_store_.reset(); }},
      {"heap", [this] { make_heap(); },
       [this] {
         heap_.reset();
         arena_.reset();
       }},
      {"device memory", [this] { make_device_memory(); }, [this] { drop_device_memory(); }},
      {"global objects", [this] { make_globals(); }, [this] { globals_.reset(); }},
      {"network", [this] { start_network(); }, [this] { network_.reset(); }},
      {"state of the PE", [this] { fill_state(); }, [this] { drop_state(); }},
      {"teams", [this] { make_teams(); }, [this] { teams_.reset(); }},
      {"active sets", [this] { make_active_sets(); }, [this] { active_sets_.reset(); }},
      {"symmetric memory", [this] { make_symmetric_memory(); }, [this] { memory_.reset(); }},
      {"GPU", [this] { attach_chosen_gpu(); }},
      {"barrier", [this] { bootstrap_.barrier(); }},  // no PE is used before it is ready
  };
}

void World::exchange_with_all() {
  Identity mine = make_identity(env_);
  mine.several_threads = options_.several_threads_call;
  mine.device_heap = heap_choice_.device;
  mine.device_heap_max = heap_choice_.limit;
  mine.has_context = heap_choice_.has_context;
  identities_ = exchange_identities(bootstrap_, mine);
  warn_without_gpu(heap_choice_, identities_, bootstrap_.pe());
}

void World::make_heap() {
  heap_size_ = choose_heap_size(env_, identities_, may_need_network());
  const size_t heap_bytes = std::max<size_t>(heap_size_.nbytes, OffsetAllocator::kGranule);
  // Scratch slots follow behind the teams, in all jobs that may need a network: whether this one does is known only
  // later.
  const size_t teams_bytes = Teams::nbytes(bootstrap_.npes(), static_cast<int>(env_.teams_max), stream_areas());
  scratch_slots_offset_ = align_up(kControlBytes + teams_bytes, size_t{4096});
  const size_t header_bytes =
      scratch_slots_offset_ + (may_need_network() ? kHostScratchSlots * kHostScratchSlotBytes : 0);
  HostMemory memory(header_bytes + heap_bytes, env_.huge_pages);
  NodeReach reach =
      find_node_reach(bootstrap_, identities_, static_cast<int>(env_.node_size), load_store_.get(), memory.fd());
  layout_ = std::move(reach.layout);
  layout_.cpus_on_host = count_cpus(identities_, identities_[static_cast<size_t>(bootstrap_.pe())].host);
  const size_t nbytes = memory.nbytes();
  const auto my_slot = static_cast<size_t>(layout_.my_slot);
  PlacedArena placed =
      place_arena(bootstrap_, layout_.members.size(), my_slot, NodeArena::stride_for(nbytes), options_.pes_are_threads);
  heap_place_ = std::move(placed.place);
  arena_ = std::make_unique<NodeArena>(std::move(placed.arena));
  std::byte* base = arena_->map_own(my_slot, memory.fd(), nbytes);
  heap_ = std::make_unique<Heap>(std::move(memory), base, header_bytes, arena_->alignment());
  heap_->populate_header(0, kControlBytes);
  for (size_t slot = 0; slot < layout_.members.size(); ++slot)
    if (slot != my_slot) load_store_->map_peer(*arena_, slot, reach.memory_by_slot[slot], nbytes, 0);
}

void World::make_globals() {
  globals_ = std::make_unique<SharedGlobals>(bootstrap_, layout_, load_store_.get(),
                                             options_.pes_are_threads ? DataSegmentMode::off : env_.data_segment);
}

void World::fill_state() {
  state_.me = bootstrap_.pe();
  state_.npes = bootstrap_.npes();
  state_.observer = observer_.get();
  state_.first_pe_of_node = layout_.members.front();
  SegmentView& heap = state_.segment[static_cast<int>(SegmentId::heap)];
  heap.base = reinterpret_cast<uintptr_t>(heap_->base());
  heap.nbytes = heap_->nbytes();
  heap.node_base = reinterpret_cast<uintptr_t>(arena_->base());
  heap.stride = arena_->stride();
  heap.slots = static_cast<int>(layout_.members.size());
  state_.segment[static_cast<int>(SegmentId::data)] = globals_->view();
  if (options_.pes_are_threads)
    state_.why_no_globals = "the PEs are threads of one process";
  else if (!globals_->why_none().empty())
    state_.why_no_globals = globals_->why_none().c_str();
  if (!layout_.consecutive()) {
    slots_.assign(static_cast<size_t>(state_.npes), -1);
    for (size_t slot = 0; slot < layout_.members.size(); ++slot)
      slots_[static_cast<size_t>(layout_.members[slot])] = static_cast<int32_t>(slot);
    state_.slot_of_pe = slots_.data();
  }
  state_.network = network_.get();
  const SegmentView data = globals_->view();
  state_.mixed_reach = network_ && data.nbytes > 0 && (data.first_slot != heap.first_slot || data.slots != heap.slots);
  state_.choice = &choice_;
  if (network_ && may_need_network()) {
    host_scratch_slots_ = std::make_unique<ScratchSlots>(
        heap_->base() + scratch_slots_offset_, kHostScratchSlotBytes, kHostScratchSlots,
        [this](std::byte* slot) { heap_->populate_header(heap_->offset_of(slot), kHostScratchSlotBytes); });
    state_.scratch_slots[0] = host_scratch_slots_.get();
  }
  state_.collective_chunk = env_.collective_chunk;
  if (network_) state_.default_context.net = network_->make_context();
  contexts_ = std::make_unique<ContextTable>(network_.get());
  state_.contexts = contexts_.get();
  state_.spin = SpinPolicy::for_machine(layout_.cpus_on_host, layout_.pes_on_host, env_.timeout_s, env_.wait_timeout_s);
  std::vector<Liveness::Process> processes;
  const Identity& mine = identities_[static_cast<size_t>(state_.me)];
  for (int pe = 0; pe < state_.npes; ++pe) {
    const Identity& other = identities_[static_cast<size_t>(pe)];
    if (other.host == mine.host && other.pid_namespace == mine.pid_namespace && !options_.pes_are_threads)
      processes.push_back({pe, static_cast<pid_t>(other.pid)});
  }
  liveness_ = std::make_unique<Liveness>(bootstrap_, processes);
  state_.liveness = liveness_.get();
  state_.calls_compared = env_.check;
  if (state_.npes > 1 && !options_.pes_are_threads)
    job_watch_ = std::make_unique<JobWatch>(bootstrap_, *liveness_, env_.survive ? 0 : env_.timeout_s,
                                            env_.survive ? network_.get() : nullptr);
  if (options_.several_threads_call) lock_turns_ = std::make_unique<LockTurns>(state_, kLockClaimed);
  state_.lock_turns = lock_turns_.get();
}

void World::make_teams() {
  teams_ =
      std::make_unique<Teams>(state_, layout_, *heap_, kControlBytes, static_cast<int>(env_.teams_max), stream_areas());
}

void World::make_active_sets() {
  // All PEs must take one way: if one PE may call from several threads, all take the way for several threads.
  bool one_at_a_time = true;
  for (const Identity& identity : identities_) one_at_a_time &= identity.several_threads == 0;
  std::function<Team&()> make_team;
  if (one_at_a_time) make_team = [this]() -> Team& { return teams_->active_sets(); };
  active_sets_ = std::make_unique<ActiveSets>(state_, std::move(make_team));
}

void World::make_symmetric_memory() {
  memory_ = std::make_unique<SymmetricMemory>(teams_->world(), *heap_, device_memory_.get(), [this] { attach_gpu(); });
}

/// Where all PEs have chosen their GPUs before shmem_init.
void World::attach_chosen_gpu() {
  const bool all_have_context = std::all_of(identities_.begin(), identities_.end(),
                                            [](const Identity& identity) { return identity.has_context != 0; });
  if (all_have_context) attach_gpu();
}

/// The GPU's watch over kernels asks for dead peers.
void World::drop_device_memory() noexcept {
  copiers_.reset();
  gpu_.reset();
  liveness_.reset();
  device_memory_.reset();
}

/// What threads of the watch over the job and contexts use goes after them.
void World::drop_state() noexcept {
  host_scratch_slots_.reset();
  contexts_.reset();
  lock_turns_.reset();
  job_watch_.reset();
}

}  // namespace railshmem
