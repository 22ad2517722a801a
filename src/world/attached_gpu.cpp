// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/attached_gpu.h"

#include <algorithm>

#include "shmemx.h"
#include "src/base/error.h"
#include "src/base/limit.h"
#include "src/base/log.h"
#include "src/cuda/rdma_flush.h"
#include "src/gpu/view_of.h"

namespace railshmem {

std::shared_ptr<const cuda::CpuWindows> AttachedGpu::open_windows() {
  if (!config_.env.gdrcopy || config_.network->takes_extents()) return nullptr;
  const cuda::DeviceContext& gpu = memory_.gpu();
  // What the CPU writes comes to the GPU as what NICs write does.
  const cuda::RdmaFlush flush(gpu.driver(), gpu.device(), gpu.context());
  if (choose_flush(FlushMode::automatic, &flush.service()).policy != FlushPolicy::none)
    throw Error(
        text("SHMEM_GDRCOPY is 1, but %s does not show running kernels the data from PCIe by itself; set it to 0",
             gpu.description().c_str()));
  windows_ = std::make_shared<cuda::CpuWindows>(cuda::load_gdr_api());
  extend_windows();
  std::string how = describe_windows();
  how.pop_back();
  log_info("%s", how.c_str());
  return windows_;
}

/// Opens windows on extents that are new.
void AttachedGpu::extend_windows() {
  if (!windows_) return;
  for (const DeviceMemory::Chunk& chunk : memory_.chunks()) {
    if (std::find(windows_at_.begin(), windows_at_.end(), chunk.at) != windows_at_.end()) continue;
    windows_->add(memory_.base() + chunk.at, chunk.nbytes, memory_.copies());
    windows_at_.push_back(chunk.at);
  }
}

std::string AttachedGpu::describe_windows() const {
  if (!windows_) return {};
  return text("short data and atomics: by the CPU, which maps %zu MiB of the device heap (GDRCopy)\n",
              windows_->nbytes() >> 20);
}

void AttachedGpu::open_to_rails() {
  rails_ = std::make_unique<GpuRails>(config_.env, *config_.network, bootstrap_, memory_, config_.header.flush,
                                      config_.layout.members.size());
  memory_.listen([this] {
    rails_->expose();
    extend_windows();
  });
}

void AttachedGpu::open_to_host(PeState& state) {
  const HeaderLayout& header = config_.header;
  if (header.nscratch_slots > 0) {
    scratch_slots_ = std::make_unique<ScratchSlots>(memory_.header() + header.scratch_slots, header.scratch_slot_nbytes,
                                                    header.nscratch_slots);
    state.scratch_slots[1] = scratch_slots_.get();
  }
  host_side_ = std::make_unique<DeviceSide>(memory_);
  buffers_ = std::make_unique<SymmetricBuffers>(memory_, bootstrap_, config_.layout);
  state.device = host_side_.get();
  SegmentView& view = state.segment[static_cast<int>(SegmentId::device)];
  view.base = reinterpret_cast<uintptr_t>(memory_.base());
  view.nbytes = memory_.nbytes();
  const cuda::DeviceArena& arena = memory_.arena();
  view.node_base = reinterpret_cast<uintptr_t>(memory_.reaches_node() ? arena.base() : memory_.base());
  view.stride = memory_.reaches_node() ? arena.stride() : 0;
  view.first_slot = memory_.reaches_node() ? 0 : config_.layout.my_slot;
  view.slots = memory_.reaches_node() ? static_cast<int>(config_.layout.members.size()) : 1;
  // Copies reach a mapped PE at once, atomics go through its proxy: a fence has to wait for the atomics.
  state.mixed_reach |= config_.network && view.slots > 1;
}

void AttachedGpu::open_to_peers() {
  peer_buffers_ = std::make_unique<PeerBuffers>(memory_, bootstrap_, config_.layout,
                                                PeerBuffersConfig{limit_ns(config_.env.timeout_s), config_.death});
}

WorldView AttachedGpu::open_to_kernels(const PeState& state, const Heap& heap, Teams& teams, ContextTable& contexts) {
  Network* const network = config_.network;
  kernel_channels_ = std::make_unique<KernelChannels>(
      memory_.gpu(), memory_.copies(), memory_.header(), network ? config_.env.device_rings : 0,
      config_.log2_ring_slots, network ? KernelPayloads{network->payloads(), config_.log2_payloads} : KernelPayloads{});
  if (network) network->add_channels(kernel_channels_->channels());
  kernel_watch_ = std::make_unique<KernelWatch>(*kernel_channels_, state.me, state.npes, config_.death);
  const double timeout_s = config_.env.wait_timeout_s;
  WorldView view = view_of(memory_, config_.layout,
                           {state.me, state.npes, network != nullptr, config_.env.check,
                            static_cast<uint64_t>(timeout_s * 1e9), heap.base(), heap.nbytes()});
  kernel_channels_->add_to(view);
  view.control = config_.header.control;
  view.control_nbytes = config_.header.control_nbytes;
  show_tables(teams, contexts, state.npes);
  kernel_tables_->add_to(view);
  return view;
}

/// Shows kernels the teams and contexts of the program.
void AttachedGpu::show_tables(Teams& teams, ContextTable& contexts, int npes) {
  const HeaderLayout& header = config_.header;
  kernel_tables_ = std::make_unique<KernelTables>(memory_.copies(), memory_.header() + header.tables,
                                                  memory_.header() + header.control, npes, header.nteams);
  teams.show_to(*kernel_tables_);
  contexts.listen([this](size_t place, uintptr_t handle, const Context& context) {
    ContextRow row;
    row.handle = handle;
    row.team = reinterpret_cast<uintptr_t>(context.team);
    row.number = static_cast<uint16_t>(place + 1);
    row.direct_atomics = (context.options & SHMEMX_CTX_NODE_ONLY) != 0;
    row.published = (context.options & SHMEMX_CTX_PUBLISHED) != 0;
    kernel_tables_->set_context(place, row);
  });
}

/// Threads of the library make host calls from now on.
void AttachedGpu::share_host_calls() {
  if (config_.network) std::call_once(host_calls_shared_, [this] { config_.network->share_host_calls(); });
}

void AttachedGpu::open_to_streams(const WorldView& view, PeState& state, Teams& teams) {
  try {
    auto node_collectives =
        std::make_unique<NodeCollectives>(memory_, *peer_buffers_, view, config_.choice, config_.env.teams_max);
    auto stream_side = std::make_unique<StreamSide>(memory_, view);
    const auto before_threads = [this] { share_host_calls(); };
    if (config_.network)
      transfers_ =
          std::make_unique<Transfers>(memory_.gpu(), memory_.working_gpu(), *stream_side, state, before_threads);
    executors_ = std::make_unique<Executors>(memory_.gpu(), memory_.working_gpu(), *stream_side, before_threads,
                                             [&teams](const Team& team) -> Team& { return teams.for_streams(team); });
    node_collectives_ = std::move(node_collectives);
    stream_side_ = std::move(stream_side);
    teams.when_gone([this](const Team& team) {
      executors_->leave(team);
      node_collectives_->forget(team);
    });
  } catch (const Error& e) {
    no_streams_ = e.what();
    log_info("no stream-ordered calls: %s", e.what());
  }
}

NodeCollectives* AttachedGpu::forget_teams() noexcept {
  return node_collectives_ && node_collectives_->forget_all() ? node_collectives_.get() : nullptr;
}

}  // namespace railshmem
