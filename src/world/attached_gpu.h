// SPDX-License-Identifier: BSD-3-Clause
// All that a PE has only once the program has chosen its GPU. The order of the members is the order of setup.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/env.h"
#include "src/cuda/cpu_windows.h"
#include "src/gpu/device_memory.h"
#include "src/gpu/device_side.h"
#include "src/gpu/header_layout.h"
#include "src/gpu/kernel_channels.h"
#include "src/gpu/kernel_watch.h"
#include "src/gpu/peer_buffers.h"
#include "src/gpu/symmetric_buffers.h"
#include "src/heap/heap.h"
#include "src/plan/choice.h"
#include "src/plugin/bootstrap.h"
#include "src/plugin/network.h"
#include "src/rma/context_table.h"
#include "src/rma/pe_state.h"
#include "src/stream/executor/executors.h"
#include "src/stream/executor/transfers.h"
#include "src/stream/node_collectives.h"
#include "src/stream/stream_side.h"
#include "src/team/scratch_slots.h"
#include "src/topology/node_layout.h"
#include "src/world/gpu_rails.h"
#include "src/world/teams.h"

namespace railshmem {

struct AttachedGpuConfig {
  const Env& env;
  const NodeLayout& layout;
  const Choice& choice;
  HeaderLayout header;
  uint32_t log2_ring_slots = 0;
  uint32_t log2_payloads = 0;  ///< large payload slots of a ring
  Network* network = nullptr;  ///< null: all PEs are mapped
  /// A peer that died, as a sentence; empty while all live. Any thread calls it.
  std::function<std::optional<std::string>()> death;
};

/// A World has one from the moment at which its heap has a GPU. World calls the functions that open it once, in the
/// order in which they stand here. Each of them may throw Error; what was opened before stays.
class AttachedGpu {
 public:
  /// `memory` must be attached. All arguments, and what `config` refers to, outlive this, but for the network: it must
  /// live until stop_executors().
  AttachedGpu(DeviceMemory& memory, Bootstrap& bootstrap, AttachedGpuConfig config)
      : memory_(memory), bootstrap_(bootstrap), config_(std::move(config)) {}
  AttachedGpu(const AttachedGpu&) = delete;

  /// Windows of the CPU on the device heap, where SHMEM_GDRCOPY asks for them and rails do not reach it; else null.
  std::shared_ptr<const cuda::CpuWindows> open_windows();
  /// Collective, where there is a network. Brings the device heap to the network's rails.
  void open_to_rails();
  /// Lets host calls use memory of the GPUs: adds the device heap to `state`.
  void open_to_host(PeState& state);
  /// Collective. Lets PEs of the node map buffers of this PE.
  void open_to_peers();
  /// Shows kernels their channels and the teams and contexts of the program. Returns the view for kernels.
  WorldView open_to_kernels(const PeState& state, const Heap& heap, Teams& teams, ContextTable& contexts);
  /// Loads the library's kernels for streams now, while nothing runs on the GPU: loading them later could wait for
  /// kernels that wait for this PE. Goes on without where that fails; see why_no_streams().
  void open_to_streams(const WorldView& view, PeState& state, Teams& teams);

  SymmetricBuffers& buffers() noexcept { return *buffers_; }
  /// Where peers see this PE's GPU memory.
  PeerBuffers& peer_buffers() noexcept { return *peer_buffers_; }
  /// What stream-ordered calls use; null where the library has no kernels.
  StreamSide* streams() noexcept { return stream_side_.get(); }
  /// Collectives in stream order inside a node; null where streams() is.
  NodeCollectives* node_collectives() noexcept { return node_collectives_.get(); }
  /// Collectives in stream order between nodes; null where streams() is.
  Executors* executors() noexcept { return executors_.get(); }
  /// Puts and gets in stream order over the network; null without a network, and where streams() is.
  Transfers* transfers() noexcept { return transfers_.get(); }
  /// Why streams() is null; empty where it is not.
  const std::string& why_no_streams() const noexcept { return no_streams_; }
  /// A line for SHMEM_INFO=1 on how rails are flushed; empty without a network.
  std::string describe_rails() const { return (rails_ ? rails_->describe() : std::string()) + describe_windows(); }

  /// Ends the host's calls in streams, which need the peers.
  void stop_executors() noexcept {
    transfers_.reset();
    executors_.reset();
  }
  /// Ends the watch over kernels, which asks for dead peers.
  void stop_watch() noexcept { kernel_watch_.reset(); }
  /// No team is used any more. Returns the collectives of the node where graphs live on that captured some; else null.
  NodeCollectives* forget_teams() noexcept;
  /// Gives away what forget_teams() returned.
  std::unique_ptr<NodeCollectives> release_node_collectives() noexcept { return std::move(node_collectives_); }

 private:
  void show_tables(Teams& teams, ContextTable& contexts, int npes);
  void extend_windows();
  void share_host_calls();
  std::string describe_windows() const;

  DeviceMemory& memory_;
  Bootstrap& bootstrap_;
  const AttachedGpuConfig config_;
  std::unique_ptr<GpuRails> rails_;              ///< null without a network
  std::shared_ptr<cuda::CpuWindows> windows_;    ///< null: none
  std::vector<size_t> windows_at_;               ///< begins of the extents that have one
  std::unique_ptr<ScratchSlots> scratch_slots_;  ///< null in a job of one node
  std::unique_ptr<DeviceSide> host_side_;
  std::unique_ptr<SymmetricBuffers> buffers_;
  std::unique_ptr<PeerBuffers> peer_buffers_;
  std::unique_ptr<KernelChannels> kernel_channels_;
  std::unique_ptr<KernelWatch> kernel_watch_;
  std::unique_ptr<KernelTables> kernel_tables_;
  std::once_flag host_calls_shared_;
  // The next four are null in a library without kernels.
  std::unique_ptr<NodeCollectives> node_collectives_;
  std::unique_ptr<StreamSide> stream_side_;
  std::unique_ptr<Executors> executors_;
  std::unique_ptr<Transfers> transfers_;  ///< also null without a network
  std::string no_streams_;                ///< see why_no_streams()
};

}  // namespace railshmem
