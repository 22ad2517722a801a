// SPDX-License-Identifier: BSD-3-Clause
// Global and static objects of the executable as symmetric memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/globals/shared_data.h"
#include "src/heap/load_store.h"
#include "src/plugin/bootstrap.h"
#include "src/plugin/segment.h"
#include "src/rma/pe_state.h"
#include "src/topology/node_layout.h"

namespace railshmem {

class SharedGlobals {
 public:
  /// Collective. PEs that run different executables, or SHMEM_DATA_SEGMENT=off, leave the job without symmetric
  /// globals. Node peers map each other's globals where `load_store` and the executable allow it; the network serves
  /// the rest.
  SharedGlobals(Bootstrap& bootstrap, const NodeLayout& layout, LoadStore* load_store, DataSegmentMode mode);
  /// Does give_back(), and unmaps the peers' objects.
  ~SharedGlobals();
  SharedGlobals(const SharedGlobals&) = delete;

  /// Gives the objects back to this process, values kept; no peer may write any more. Once.
  void give_back() noexcept;
  /// True, on all PEs alike, when the globals of some PE of a node can only be reached through the network.
  bool needs_network() const noexcept { return needs_network_; }
  Segment segment() const noexcept;
  SegmentView view() const noexcept;
  std::string describe() const;
  /// Why no global object is symmetric, alike on all PEs, and what to do; empty where they are.
  const std::string& why_none() const noexcept { return why_none_; }

 private:
  std::string find_objects(Bootstrap& bootstrap, DataSegmentMode mode);
  std::string find_other_executable(Bootstrap& bootstrap);
  void share(Bootstrap& bootstrap, LoadStore& load_store, DataSegmentMode mode);
  void map_peers(LoadStore& load_store, const std::vector<PeerFd>& memory);

  const NodeLayout& layout_;
  DataSegment range_{};
  std::unique_ptr<NodeArena> arena_;  ///< null when the globals are not mapped between node peers
  std::string why_none_;
  bool moved_ = false;
  bool needs_network_ = false;
  std::string why_not_ = "one PE on this node";
};

}  // namespace railshmem
