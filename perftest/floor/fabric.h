// SPDX-License-Identifier: BSD-3-Clause
// One end of a libfabric connection between two processes, with one registered region: the least code that works.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include <memory>
#include <string>
#include <vector>

#include "perftest/floor/partner.h"

namespace railshmem::perf {

struct CloseFid {
  template <class F>
  void operator()(F* object) const noexcept {
    fi_close(&object->fid);
  }
};
template <class F>
using Fid = std::unique_ptr<F, CloseFid>;
struct FreeInfo {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};

class FabricEnd {
 public:
  /// Opens the provider and registers `nbytes` of private memory; throws with the call and the reason.
  FabricEnd(const std::string& provider, size_t nbytes);

  FabricDescriptor descriptor() const;
  void connect(const FabricDescriptor& peer);

  char* region() noexcept { return region_.data(); }
  /// Post one operation between equal offsets; false = no room now, poll and try again.
  bool write(size_t offset, size_t nbytes, uint64_t flags);
  bool read(size_t offset, size_t nbytes);
  /// A message of at most inject_bytes(), without a completion here; false = no room now, poll and try again.
  bool send(size_t offset, size_t nbytes);
  /// A buffer for one message, whose arrival poll() counts.
  void receive(size_t offset, size_t nbytes);
  /// Number of operations completed since the last call; throws when one failed.
  size_t poll();
  size_t inject_bytes() const noexcept { return info_->tx_attr->inject_size; }

 private:
  template <class Post>
  bool post(const char* call, size_t offset, size_t nbytes, uint64_t flags, Post&& function);

  // Acquisition order, so that closing is its mirror.
  std::unique_ptr<fi_info, FreeInfo> info_;
  std::vector<char> region_;
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  Fid<fid_cq> cq_;
  Fid<fid_av> av_;
  Fid<fid_ep> ep_;
  Fid<fid_mr> mr_;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  uint64_t peer_base_ = 0;
  uint64_t peer_key_ = 0;
  std::vector<fi_context2> contexts_;  ///< for providers that want FI_CONTEXT; used in turn
  size_t next_context_ = 0;
};

}  // namespace railshmem::perf
