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
#include "src/plugin/host_copier.h"
#include "src/rma/ordering.h"
#include "src/stream/late_launches.h"
#include "src/topology/thread_cpus.h"
#include "src/world/observations.h"
#include "src/world/proxy_place.h"

namespace railshmem {
namespace {

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

}  // namespace

World::~World() {
  finish();
  // If a later step fails, its message must not ask a Liveness that is gone.
  state_.liveness = nullptr;
  state_.observer = nullptr;
  if (gpu_) stay_for_graphs();
  stages_.undo();
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
