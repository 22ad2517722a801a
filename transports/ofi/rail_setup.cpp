// SPDX-License-Identifier: BSD-3-Clause
// Opening an endpoint and learning its peers. The data path is in rail.cpp.
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/base/shm_files.h"
#include "transports/ofi/rail.h"

namespace railshmem::ofi {

/// The claim of all rails of this process that live.
struct ShmClaims {
  std::mutex mutex;
  std::weak_ptr<const ShmClaim> current;
};

namespace {

// To cut longer writes costs nothing, and avoids counters of 32 bits (ofi_rxd's segments end at 4 GiB) and system calls
// that move at most 2 GiB.
constexpr size_t kLargestWrite = size_t{1} << 30;
constexpr size_t kQueueSlack = 64;  // room for errors of operations without a slot

/// The first one removes what dead processes have left.
std::shared_ptr<const ShmClaim> claim_of_process() {
  auto& [mutex, current] = g_process.shm_claims.get();
  const std::lock_guard lock(mutex);
  std::shared_ptr<const ShmClaim> claim = current.lock();
  if (claim) return claim;
  if (const int removed = sweep_shm_files(); removed > 0)
    log_info("removed %d files in /dev/shm that processes of this user had left behind", removed);
  claim = std::make_shared<const ShmClaim>();
  current = claim;
  return claim;
}

/// Adds a unique part to names. Providers whose addresses are strings make names from the process id (shm: a file in
/// /dev/shm). A killed process leaves its name behind, and a later process with its id could not start. The claim tells
/// others that the files of that name have an owner; null for other providers.
std::shared_ptr<const ShmClaim> make_name_unique(fi_info& info) {
  if (info.addr_format != FI_ADDR_STR || !info.src_addr) return nullptr;
  std::shared_ptr<const ShmClaim> claim = claim_of_process();
  const std::string name =
      text("%s_%llx_%u", static_cast<const char*>(info.src_addr), static_cast<unsigned long long>(claim->since_ns()),
           g_process.numbers.ofi_names.fetch_add(1, std::memory_order_relaxed));
  char* copy = strdup(name.c_str());  // the info frees it
  if (!copy) throw std::bad_alloc();
  std::free(info.src_addr);
  info.src_addr = copy;
  info.src_addrlen = name.size() + 1;
  return claim;
}

}  // namespace

Rail::Rail(const Nic& nic, const RailSetup& setup)
    : ports_(setup.ports), stuck_(setup.npes, setup.timeout_ns), name_(nic.name()), info_(fi_dupinfo(nic.info.get())) {
  if (!info_) throw std::bad_alloc();
  claim_ = make_name_unique(*info_);
  quirks_ = quirks_of(*info_);
  if (quirks_.threading != FI_THREAD_UNSPEC) info_->domain_attr->threading = quirks_.threading;
  const char* provider = info_->fabric_attr->prov_name;
  fabric_ = own<fid_fabric>("fi_fabric", provider,
                            [&](fid_fabric** out) { return fi_fabric(info_->fabric_attr, out, nullptr); });
  domain_ = own<fid_domain>("fi_domain", provider,
                            [&](fid_domain** out) { return fi_domain(fabric_.get(), info_.get(), out, nullptr); });
  max_outstanding_ = std::min(setup.operations, quirks_.operations);
  if (quirks_.plain_sends) copied_send_ = 0;
  const size_t receives = std::min(quirks_.receives, info_->rx_attr->size ? info_->rx_attr->size : quirks_.receives);
  const size_t depth = max_outstanding_ + receives + kQueueSlack;
  open_queue(depth, setup.sleeps);
  if (quirks_.drains) drained_.resize(depth);
  fi_av_attr table{};
  table.type = FI_AV_TABLE;
  table.count = setup.npes * setup.ports;
  av_ = own<fid_av>("fi_av_open", provider,
                    [&](fid_av** out) { return fi_av_open(domain_.get(), &table, out, nullptr); });
  receives_ = ReceivePool(receives);
  open_endpoint(nic, *setup.local_buffers);

  traits_.reads_may_fail = quirks_.reads_may_fail;
  traits_.within_host = std::string_view(info_->fabric_attr->prov_name) == "shm";
  traits_.inject = info_->tx_attr->inject_size;
  traits_.max_write = std::min(kLargestWrite, info_->ep_attr->max_msg_size);
#if FI_MAJOR_VERSION >= 2
  // Where a provider has these options, they are right for RMA; the attributes also cover tagged messages.
  size_t nbytes = 0;
  size_t length = sizeof nbytes;
  if (fi_getopt(&ep_->fid, FI_OPT_ENDPOINT, FI_OPT_INJECT_RMA_SIZE, &nbytes, &length) == 0)
    traits_.inject = std::min(traits_.inject, nbytes);
  if (fi_getopt(&ep_->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RMA_SIZE, &nbytes, &length) == 0)
    traits_.max_write = std::min(traits_.max_write, nbytes);
#endif
  traits_.max_message = std::min(kMessageBytes, info_->ep_attr->max_msg_size);
  traits_.message_after_write = orders_message_after_write(*info_);
  traits_.write_after_write = traits_.message_after_write;  // which asks for ordered writes of every size too
}

void Rail::open_queue(size_t depth, bool sleeps) {
  fi_cq_attr attr{};
  attr.size = depth;
  attr.format = FI_CQ_FORMAT_MSG;
  attr.wait_obj = FI_WAIT_FD;
  fid_cq* raw = nullptr;
  if (sleeps && fi_cq_open(domain_.get(), &attr, &raw, nullptr) == 0) {
    cq_.reset(raw);
    if (fi_control(&cq_->fid, FI_GETWAIT, &wait_fd_) == 0 && wait_fd_ >= 0) return;
    wait_fd_ = -1;
    cq_.reset();
  }
  attr.wait_obj = FI_WAIT_NONE;  // also for providers without anything to wait on (shm, rxd): the proxy naps
  cq_ = own<fid_cq>("fi_cq_open", info_->fabric_attr->prov_name,
                    [&](fid_cq** out) { return fi_cq_open(domain_.get(), &attr, out, nullptr); });
}

void Rail::open_endpoint(const Nic& nic, LocalBuffers& local_buffers) {
  const char* provider = info_->fabric_attr->prov_name;
  info_->tx_attr->op_flags = 0;  // every post gives its own flags
  info_->rx_attr->op_flags = 0;
  ep_ = own<fid_ep>("fi_endpoint", provider,
                    [&](fid_ep** out) { return fi_endpoint(domain_.get(), info_.get(), out, nullptr); });
  check(fi_ep_bind(ep_.get(), &av_->fid, 0), "fi_ep_bind of the address table", provider);
  // Selective: messages without a slot leave no event behind.
  check(fi_ep_bind(ep_.get(), &cq_->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION), "fi_ep_bind for sending", provider);
  check(fi_ep_bind(ep_.get(), &cq_->fid, FI_RECV), "fi_ep_bind for receiving", provider);
  if (nic.without_cuda) forbid_cuda(*ep_);
  check(fi_enable(ep_.get()), "fi_enable", provider);

  const RegistrationSite site{info_.get(), domain_.get(), ep_.get()};
  void* desc = nullptr;
  if (site.wants(FI_MR_LOCAL) || local_buffers.always()) {
    local_ = LocalDescriptors(site, local_buffers, max_outstanding_, name_);
    const Memory memory{receives_.memory().data(), receives_.memory().size()};
    constexpr uint64_t kReceiveKey = kSegments + 1;  // after the segments' keys
    const char* call = nullptr;
    check(site.open({memory, FI_RECV, kReceiveKey}, memory, receives_mr_, &call), call, provider);
    desc = fi_mr_desc(receives_mr_.get());
  }
  receives_.start(ep_.get(), desc, provider);
}

std::vector<RemoteRegion> Rail::expose(std::span<const Segment> segments) {
  std::vector<RemoteRegion> regions(kSegments);
  for (const Segment& segment : segments) {
    if (segment.nbytes == 0) continue;
    const auto id = static_cast<size_t>(segment.id);
    segments_.emplace_back(*info_, domain_.get(), ep_.get(), std::span(segment.base, segment.nbytes), id + 1);
    regions[id] = segments_.back().remote();
  }
  return regions;
}

void Rail::add_local(std::span<const Segment> segments) {
  if (local_.needed()) expose(segments);
}

void Rail::use_device_heap(std::span<const std::byte> addresses) noexcept {
  device_base_ = reinterpret_cast<uintptr_t>(addresses.data());
  device_nbytes_ = addresses.size();
}

RemoteRegion Rail::add_extent(const Memory& memory) {
  const uint64_t key = kSegments + 2 + extents_.size();  // after the keys of segments and receive buffers
  extents_.emplace_back(RegistrationSite{info_.get(), domain_.get(), ep_.get()}, memory, key);
  return extents_.back().remote();
}

std::vector<std::byte> Rail::address() const {
  size_t nbytes = 0;
  const int rc = fi_getname(&ep_->fid, nullptr, &nbytes);
  if (rc != -FI_ETOOSMALL) check(rc, "fi_getname", info_->fabric_attr->prov_name);
  std::vector<std::byte> bytes(nbytes);
  check(fi_getname(&ep_->fid, bytes.data(), &nbytes), "fi_getname", info_->fabric_attr->prov_name);
  bytes.resize(nbytes);
  return bytes;
}

void Rail::connect(std::span<const std::byte> addresses, std::span<const RemoteRegion> regions,
                   const std::vector<std::vector<RemoteRegion>>* extents) {
  const char* provider = info_->fabric_attr->prov_name;
  const size_t count = regions.size() / kSegments * ports_;
  std::vector<fi_addr_t> numbers(count, FI_ADDR_NOTAVAIL);
  // One call inserts all: some providers take a lock or a system call per call.
  const int inserted = fi_av_insert(av_.get(), addresses.data(), count, numbers.data(), 0, nullptr);
  check(inserted, "fi_av_insert", provider);
  if (static_cast<size_t>(inserted) != count)
    throw Error(text("%s took %d of the %zu addresses of this job", name_.c_str(), inserted, count));
  bool in_order = true;
  for (size_t i = 0; i < count; ++i) in_order = in_order && numbers[i] == i;
  if (!in_order) addresses_ = std::move(numbers);
  npeers_ = count;
  regions_ = regions;
  peers_extents_ = extents;
}

}  // namespace railshmem::ofi
