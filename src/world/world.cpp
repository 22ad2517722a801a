// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/world.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "src/base/align.h"
#include "src/base/cpu.h"
#include "src/base/env.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/printable.h"
#include "src/base/process.h"
#include "src/base/quantity.h"
#include "src/base/threads.h"
#include "src/collective/collectives.h"
#include "src/collective/control_block.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/cuda_copier.h"
#include "src/cuda/local_devices.h"
#include "src/gpu/agreement.h"
#include "src/heap/common_address.h"
#include "src/plugin/host_copier.h"
#include "src/rma/lock.h"
#include "src/rma/ordering.h"
#include "src/stream/late_launches.h"
#include "src/topology/thread_cpus.h"
#include "src/world/node_reach.h"
#include "src/world/observations.h"
#include "src/world/proxy_place.h"

namespace railshmem {
namespace {

// Half of a scratch slot takes what other nodes send. Scratch slots in host memory cost memory only where teams use
// them.
constexpr size_t kHostScratchSlotBytes = size_t{8} << 20;
constexpr size_t kHostScratchSlots = 4;
constexpr size_t kMostDeviceScratchSlotBytes = size_t{8} << 20;
constexpr size_t kDeviceScratchSlots = 16;  // a team takes one for its host calls, and one for its streams
// All scratch slots together take at most this part of what the heap may grow to.
constexpr size_t kDeviceScratchSlotsShare = 16;

uint32_t log2_ring_slots(uint64_t slots) {
  if (slots < 64 || slots > 65536 || !is_power_of_two(slots))
    throw Error(text("SHMEM_DEVICE_RING_SLOTS is %llu; it must be a power of two from 64 to 65536",
                     static_cast<unsigned long long>(slots)));
  return static_cast<uint32_t>(std::countr_zero(slots));
}

/// Number of large payload slots of a ring, as a power of two. Only where there are any.
uint32_t log2_payloads(uint64_t slots) {
  if (slots > kMostLargePayloads || !is_power_of_two(slots))
    throw Error(text("SHMEM_DEVICE_PAYLOADS is %llu; it must be 0 or a power of two up to %u",
                     static_cast<unsigned long long>(slots), kMostLargePayloads));
  return static_cast<uint32_t>(std::countr_zero(slots));
}

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
      flush_(GpuRails::flush_at_start(env, heap_choice_.device)) {
  Identity mine = make_identity(env_);
  mine.several_threads = options_.several_threads_call;
  mine.device_heap = heap_choice_.device;
  mine.device_heap_max = heap_choice_.limit;
  mine.has_context = heap_choice_.has_context;
  identities_ = exchange_identities(bootstrap_, mine);
  warn_without_gpu(heap_choice_, identities_, bootstrap_.pe());
  observer_ = make_observer(env_, bootstrap_.pe());
  load_store_ = make_load_store(env_);
  make_heap();
  make_device_memory();
  globals_ = std::make_unique<SharedGlobals>(bootstrap_, layout_, load_store_.get(),
                                             options_.pes_are_threads ? DataSegmentMode::off : env_.data_segment);
  start_network();
  fill_state();
  teams_ =
      std::make_unique<Teams>(state_, layout_, *heap_, kControlBytes, static_cast<int>(env_.teams_max), stream_areas());
  make_active_sets();
  memory_ = std::make_unique<SymmetricMemory>(teams_->world(), *heap_, device_memory_.get(), [this] { attach_gpu(); });
  const bool all_have_context = std::all_of(identities_.begin(), identities_.end(),
                                            [](const Identity& identity) { return identity.has_context != 0; });
  if (all_have_context) attach_gpu();
  bootstrap_.barrier();  // no PE is used before it is ready
}

World::~World() {
  finish();
  // If a later step fails, its message must not ask a Liveness that is gone.
  state_.liveness = nullptr;
  state_.observer = nullptr;
  if (gpu_) stay_for_graphs();
}

void World::finish() noexcept {
  if (finished_) return;
  finished_ = true;
  try {
    if (gpu_) gpu_->stop_executors();  // their calls need the peers
    contexts_->quiet_all(state_);
    barrier("shmem_finalize");
    liveness_->peers_may_leave();
    if (network_) network_->prepare_stop();
    // By the bootstrap, not over the network: a PE must serve others until all have said that they need nothing more.
    bootstrap_.barrier();
    if (all_finish_) all_finish_();
    if (gpu_attached_ && options_.publish_view) options_.publish_view(nullptr);
    close_to_calls();
  } catch (const std::exception& e) {
    if (all_finish_) all_finish_();  // the function may be about to end this process with another status
    // A peer may need this PE, or have died: the end of the job is no good one.
    die("shmem_finalize: %s", e.what());
  }
  if (gpu_) gpu_->stop_watch();
  if (network_) network_->stop();
  if (observer_) publish_observations(*observer_, bootstrap_, network_.get());
}

/// Other threads must not call the library now. Calls that begin later name this mistake, and so do those that wait.
/// Those on GPU memory get the time to end before it is taken down.
void World::close_to_calls() noexcept {
  constexpr std::chrono::milliseconds kCallsEnd{2};
  state_.ended.store(true, std::memory_order_relaxed);
  if (options_.close_to_calls) options_.close_to_calls();
  if (options_.several_threads_call && gpu_) std::this_thread::sleep_for(kCallsEnd);
}

bool World::may_be_in_use() noexcept {
  if (!options_.several_threads_call || gpu_) return false;
  job_watch_.reset();
  if (!has_other_threads()) return false;
  if (network_) network_->close();
  globals_->give_back();
  heap_->drop_pages();
  return true;
}

/// Graphs that captured collectives of a node outlive the World. What their kernels use stays as long as the process,
/// so that a launch ends with a message.
void World::stay_for_graphs() noexcept {
  NodeCollectives* const captured = gpu_->forget_teams();
  if (!captured) return;
  log_warn(
      "graphs live on that captured collectives inside a node, and this PE's device heap with them; do not launch "
      "them, "
      "and destroy them before shmem_finalize");
  try {
    auto late = std::make_unique<LateLaunches>(device_memory_->gpu(), state_.me);
    captured->report_late_launches(late->record());
    g_process.kept.add(std::move(late));
    g_process.kept.add(std::move(device_memory_));
    g_process.kept.add(gpu_->release_node_collectives());
  } catch (const std::exception& e) {
    log_debug("nobody looks after graphs that live on: %s", e.what());
  }
}

/// Whether some PE may be out of reach of load and store, as far as known before any memory was mapped.
bool World::may_need_network() const {
  const bool one_host = std::all_of(identities_.begin(), identities_.end(),
                                    [&](const Identity& one) { return one.host == identities_.front().host; });
  return !one_host || !load_store_ || env_.node_size != 0 || env_.data_segment == DataSegmentMode::network;
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

void World::make_device_memory() {
  if (!heap_choice_.device) return;
  DeviceMemoryConfig config;
  config.header_nbytes = header_layout().nbytes();
  config.zero_nbytes = header_layout().zero_nbytes();
  config.host_slot = host_slot();
  config.limit = device_heap_limit();
  device_memory_ = std::make_unique<DeviceMemory>(*options_.driver, bootstrap_, layout_, config);
}

size_t World::device_heap_limit() const noexcept {
  size_t limit = 0;
  for (const Identity& identity : identities_) limit = std::max<size_t>(limit, identity.device_heap_max);
  return limit;
}

size_t World::host_slot() const noexcept {
  const auto me = static_cast<size_t>(bootstrap_.pe());
  size_t slot = 0;
  for (size_t pe = 0; pe < me; ++pe) slot += identities_[pe].host == identities_[me].host;
  return slot;
}

void World::place_proxy(const std::string& gpu) {
  const Identity& mine = identities_[static_cast<size_t>(bootstrap_.pe())];
  proxy_place_ += railshmem::place_proxy(*network_, env_.proxy_affinity, {host_slot(), mine.cpus, gpu});
}

void World::attach_gpu() {
  if (!device_memory_ || gpu_attached_) return;
  if (!attach_failure_.empty()) throw Error(attach_failure_);
  try {
    attach_together();
    gpu_attached_ = true;
  } catch (const std::exception& e) {
    attach_failure_ = text("no GPU memory can be symmetric in this job: %s", e.what());
    throw;
  }
}

/// Collective. PEs go on after each step when all have taken it; where one cannot, Error on all of them.
void World::attach_together() {
  device_memory_->attach();
  take_together(bootstrap_, [this] { make_gpu(); });
  take_together(bootstrap_, [this] {
    if (network_) gpu_->open_to_rails();
    gpu_->open_to_host(state_);
  });
  take_together(bootstrap_, [this] { gpu_->open_to_peers(); });
  take_together(bootstrap_, [this] {  // control memory is zero on all PEs
    const WorldView view = gpu_->open_to_kernels(state_, *heap_, *teams_, *contexts_);
    gpu_->open_to_streams(view, state_, *teams_);
    if (options_.publish_view) options_.publish_view(&view);
  });
}

void World::make_gpu() {
  gpu_ = std::make_unique<AttachedGpu>(
      *device_memory_, bootstrap_,
      AttachedGpuConfig{env_, layout_, choice_, header_layout(), log2_ring_slots(env_.device_ring_slots),
                        env_.device_payloads > 0 ? log2_payloads(env_.device_payloads) : 0, network_.get(),
                        [this] { return env_.survive ? std::nullopt : liveness_->dead_peer(); }});
  if (!network_) return;
  if (env_.gpu_context == GpuContextMode::own) device_memory_->work_beside_program();
  // The copies of proxy threads then need no change of context.
  network_->run_on_proxies([this] { cuda::adopt_thread(device_memory_->working_gpu()); });
  place_proxy(device_memory_->gpu().pci());
  copiers_->bind(
      cuda::make_cuda_copiers(device_memory_->working_gpu(), device_memory_->addresses(), gpu_->open_windows()));
}

void* World::register_symmetric(void* address, size_t nbytes) {
  if (!device_memory_)
    throw Error(
        text("the symmetric heap of this job is in host memory (%s); only device memory can be made symmetric. "
             "Set SHMEM_HEAP_KIND to device, or allocate with shmem_malloc",
             heap_choice_.reason.c_str()));
  attach_gpu();
  return gpu_->buffers().add(address, nbytes);
}

void World::unregister_symmetric(const void* symmetric, size_t nbytes) {
  if (!gpu_attached_) throw Error(text("%p was not returned by shmemx_buffer_register_symmetric", symmetric));
  barrier("shmemx_buffer_unregister_symmetric");  // no PE's operations on the buffer are under way any more
  gpu_->buffers().remove(static_cast<const std::byte*>(symmetric), nbytes);
}

HeaderLayout World::header_layout() const {
  const size_t scratch_slot_nbytes = align_up(
      std::min(kMostDeviceScratchSlotBytes, device_heap_limit() / kDeviceScratchSlotsShare / kDeviceScratchSlots),
      size_t{4096});
  return {env_.device_rings,
          log2_ring_slots(env_.device_ring_slots),
          bootstrap_.npes(),
          static_cast<int>(env_.teams_max),
          layout_.leaders.size() > 1 ? kDeviceScratchSlots : 0,
          scratch_slot_nbytes};
}

std::string World::why_no_streams() const {
  if (gpu_attached_ && !gpu_->why_no_streams().empty()) return gpu_->why_no_streams();
  if (!attach_failure_.empty()) return attach_failure_;
  if (device_memory_)
    return "this job has no heap in device memory yet; choose a GPU (cudaSetDevice) and call shmemx_attach_device or "
           "shmem_malloc first";
  const std::optional<cuda::Driver> driver = cuda::load_driver();  // the job ends here: the time does not matter
  if (!driver || cuda::local_devices(*driver).empty())
    return "this job has no heap in device memory: no GPU found (look at nvidia-smi and CUDA_VISIBLE_DEVICES)";
  return text("this job has no heap in device memory: %s; set SHMEM_HEAP_KIND to device", heap_choice_.reason.c_str());
}

void World::start_network() {
  const bool heap_needs_it = layout_.leaders.size() > 1;
  if (!heap_needs_it && !globals_->needs_network()) {
    if (const std::string unused = describe_unused(); !unused.empty() && bootstrap_.pe() == 0)
      log_info("%s", unused.substr(0, unused.size() - 1).c_str());
    return;
  }
  network_ = make_network(network_config());
  if (!network_ && heap_needs_it)
    throw Error(
        text("PE %d reaches only %zu of %d PEs by load and store and SHMEM_TRANSPORT allows no network; add ofi "
             "to it or start all PEs on one host",
             bootstrap_.pe(), layout_.members.size(), bootstrap_.npes()));
  if (!network_) return;
  const MemoryKind heap_kind = env_.test_staged_heap ? MemoryKind::staged : MemoryKind::host;
  std::vector<Segment> segments = {{SegmentId::heap, heap_->base(), heap_->nbytes(), heap_kind}, globals_->segment()};
  if (device_memory_)
    segments.push_back({SegmentId::device, device_memory_->base(), device_memory_->nbytes(), MemoryKind::staged});
  const std::vector<std::vector<std::byte>> descriptors = exchange_bytes(bootstrap_, network_->attach(segments));
  network_->connect(descriptors);
  network_->start({});
  place_proxy({});
}

NetworkConfig World::network_config() const {
  NetworkConfig config{};
  config.env = &env_;
  config.pe = bootstrap_.pe();
  config.npes = bootstrap_.npes();
  config.threads_share_host_calls = options_.several_threads_call;
  if (device_memory_) config.device_heap_nbytes = device_memory_->nbytes();
  if (device_memory_ && env_.device_payloads > 0)
    config.payload_nbytes = env_.device_rings * PayloadMemory::nbytes(log2_payloads(env_.device_payloads));
  config.flush = flush_;
  config.flush_offset = offsetof(ControlBlock, flush);
  config.oversubscribed = (1 + static_cast<int>(env_.proxy_threads)) * layout_.pes_on_host > layout_.cpus_on_host;
  config.make_copier = [this](const BounceMemory& bounce) -> std::unique_ptr<Copier> {
    if (device_memory_) return copiers_->make(bounce);
    return std::make_unique<HostCopier>();
  };
  if (observer_ && observer_->recording()) config.observer = observer_.get();
  const uint64_t host = identities_[static_cast<size_t>(config.pe)].host;
  for (int pe = 0; pe < config.npes; ++pe) {
    const Identity& identity = identities_[static_cast<size_t>(pe)];
    config.several_hosts |= identity.host != host;
    if (identity.host != host) continue;
    if (pe == config.pe) config.host_slot = config.host_cpus.size();
    config.host_cpus.push_back(identity.cpus);
  }
  return config;
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

void World::make_active_sets() {
  // All PEs must take one way: if one PE may call from several threads, all take the way for several threads.
  bool one_at_a_time = true;
  for (const Identity& identity : identities_) one_at_a_time &= identity.several_threads == 0;
  std::function<Team&()> make_team;
  if (one_at_a_time) make_team = [this]() -> Team& { return teams_->active_sets(); };
  active_sets_ = std::make_unique<ActiveSets>(state_, std::move(make_team));
}

void World::barrier(const char* function) noexcept {
  quiet(state_, state_.default_context);
  sync(function);
}

void World::sync(const char* function) noexcept {
  railshmem::sync(teams_->world(), function);
}

/// Settings of a network in a job that has none.
std::string World::describe_unused() const {
  if (network_) return {};
  const char* const for_libfabric = launcher_variable("FI_PROVIDER");
  const std::pair<const char*, std::string> settings[] = {{"SHMEM_OFI_PROVIDER", env_.ofi_provider},
                                                          {"SHMEM_OFI_NICS", env_.ofi_nics},
                                                          {"FI_PROVIDER", for_libfabric ? for_libfabric : ""}};
  std::string names;
  for (const auto& [name, value] : settings)
    if (!value.empty()) names += text("%s%s=%s", names.empty() ? "" : ", ", name, printable(value).c_str());
  if (names.empty()) return {};
  return text(
      "no network is in use, as load and store reach all PEs: without effect are %s; SHMEM_NODE_SIZE=1 uses the "
      "network inside a host too\n",
      names.c_str());
}

std::string World::describe() const {
  std::string out =
      text("bootstrap %s, %s, %s, %s on this node\n", std::string(bootstrap_.name()).c_str(),
           counted(static_cast<uint64_t>(state_.npes), "PE").c_str(), counted(layout_.leaders.size(), "node").c_str(),
           counted(layout_.members.size(), "PE").c_str());
  const cpu_set_t& cpus = identities_[static_cast<size_t>(state_.me)].cpus;
  out += text("CPUs of this PE %s, of all %s of this host %d together\n", cpu_list(cpus).c_str(),
              counted(static_cast<uint64_t>(layout_.pes_on_host), "PE").c_str(), layout_.cpus_on_host);
  out += text("heap of %s per PE (%s)%s, %s\n", memory_size(heap_size_.nbytes).c_str(), heap_size_.reason.c_str(),
              heap_->memory().huge() ? ", huge pages" : "", heap_place_.c_str());
  if (device_memory_) out += device_memory_->describe();
  out += globals_->describe();
  if (layout_.members.size() > 1)
    out += text("transport %s inside the node\n", std::string(load_store_->name()).c_str());
  if (network_)
    out += network_->describe() + proxy_place_ + (gpu_attached_ ? gpu_->describe_rails() : railshmem::describe(flush_));
  if (network_ && network_->kind == TransportKind::ofi) out += describe_rails(network_config());
  out += describe_unused();
  return out;
}

}  // namespace railshmem
