// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/floor/fabric.h"

#include <rdma/fi_errno.h>

#include <cstring>
#include <stdexcept>

namespace railshmem::perf {
namespace {

constexpr size_t kMaxInFlight = 65536;  // the largest --window
constexpr uint32_t kVersion = FI_VERSION(1, 11);

void check(int status, const char* call) {
  if (status < 0) throw std::runtime_error(std::string(call) + ": " + fi_strerror(-status));
}

/// Opens one object and owns it at once.
template <class F, class Open>
Fid<F> own(const char* call, Open&& open) {
  F* raw = nullptr;
  check(open(&raw), call);
  return Fid<F>(raw);
}

fi_info* discover(const std::string& provider) {
  const std::unique_ptr<fi_info, FreeInfo> hints(fi_allocinfo());
  if (!hints) throw std::bad_alloc();
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;  // one thread does all
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  // "auto" is how rows name an open choice.
  if (!provider.empty() && provider != "auto") hints->fabric_attr->prov_name = strdup(provider.c_str());
  fi_info* found = nullptr;
  const int status = fi_getinfo(kVersion, nullptr, nullptr, 0, hints.get(), &found);
  if (status != 0)
    throw std::runtime_error("fi_getinfo for provider '" + provider + "': " + fi_strerror(-status) +
                             "; name one that fi_info lists with --provider or SHMEM_OFI_PROVIDER, for example "
                             "\"tcp;ofi_rxm\" or shm");
  return found;
}

}  // namespace

FabricEnd::FabricEnd(const std::string& provider, size_t nbytes)
    : info_(discover(provider)), region_(nbytes, 1), contexts_(kMaxInFlight) {
  fabric_ = own<fid_fabric>("fi_fabric", [&](auto out) { return fi_fabric(info_->fabric_attr, out, nullptr); });
  domain_ = own<fid_domain>("fi_domain", [&](auto out) { return fi_domain(fabric_.get(), info_.get(), out, nullptr); });
  fi_cq_attr cq{};
  cq.format = FI_CQ_FORMAT_CONTEXT;
  cq.size = kMaxInFlight;
  cq_ = own<fid_cq>("fi_cq_open", [&](auto out) { return fi_cq_open(domain_.get(), &cq, out, nullptr); });
  fi_av_attr av{};
  av.type = FI_AV_TABLE;
  av_ = own<fid_av>("fi_av_open", [&](auto out) { return fi_av_open(domain_.get(), &av, out, nullptr); });
  ep_ = own<fid_ep>("fi_endpoint", [&](auto out) { return fi_endpoint(domain_.get(), info_.get(), out, nullptr); });
  check(fi_ep_bind(ep_.get(), &cq_->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION), "fi_ep_bind of the cq");
  check(fi_ep_bind(ep_.get(), &av_->fid, 0), "fi_ep_bind of the av");
  check(fi_enable(ep_.get()), "fi_enable");
  constexpr uint64_t kAccess = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  mr_ = own<fid_mr>("fi_mr_reg", [&](auto out) {
    return fi_mr_reg(domain_.get(), region_.data(), region_.size(), kAccess, 0, 1, 0, out, nullptr);
  });
  if (info_->domain_attr->mr_mode & FI_MR_ENDPOINT) {
    check(fi_mr_bind(mr_.get(), &ep_->fid, 0), "fi_mr_bind");
    check(fi_mr_enable(mr_.get()), "fi_mr_enable");
  }
}

FabricDescriptor FabricEnd::descriptor() const {
  FabricDescriptor descriptor{};
  descriptor.address_bytes = sizeof descriptor.address;
  check(fi_getname(&ep_->fid, descriptor.address, &descriptor.address_bytes), "fi_getname");
  descriptor.key = fi_mr_key(mr_.get());
  // Without FI_MR_VIRT_ADDR the remote side counts from 0.
  descriptor.base = info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<uintptr_t>(region_.data()) : 0;
  return descriptor;
}

void FabricEnd::connect(const FabricDescriptor& peer) {
  if (fi_av_insert(av_.get(), peer.address, 1, &peer_, 0, nullptr) != 1)
    throw std::runtime_error("fi_av_insert refused the helper's address");
  peer_base_ = peer.base;
  peer_key_ = peer.key;
}

template <class Post>
bool FabricEnd::post(const char* call, size_t offset, size_t nbytes, uint64_t flags, Post&& function) {
  iovec local{region_.data() + offset, nbytes};
  void* descriptor = fi_mr_desc(mr_.get());
  fi_rma_iov remote{peer_base_ + offset, nbytes, peer_key_};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = peer_;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = &contexts_[next_context_];
  const ssize_t status = function(ep_.get(), &message, flags);
  if (status == -FI_EAGAIN) return false;
  check(static_cast<int>(status), call);
  if (++next_context_ == contexts_.size()) next_context_ = 0;
  return true;
}

bool FabricEnd::write(size_t offset, size_t nbytes, uint64_t flags) {
  return post("fi_writemsg", offset, nbytes, flags, fi_writemsg);
}
bool FabricEnd::read(size_t offset, size_t nbytes) {
  return post("fi_readmsg", offset, nbytes, FI_COMPLETION, fi_readmsg);
}

bool FabricEnd::send(size_t offset, size_t nbytes) {
  const ssize_t status = fi_inject(ep_.get(), region_.data() + offset, nbytes, peer_);
  if (status == -FI_EAGAIN) return false;
  check(static_cast<int>(status), "fi_inject");
  return true;
}

void FabricEnd::receive(size_t offset, size_t nbytes) {
  iovec local{region_.data() + offset, nbytes};
  void* descriptor = fi_mr_desc(mr_.get());
  fi_msg message{};
  message.msg_iov = &local;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &contexts_[next_context_];
  check(static_cast<int>(fi_recvmsg(ep_.get(), &message, FI_COMPLETION)), "fi_recvmsg");
  if (++next_context_ == contexts_.size()) next_context_ = 0;
}

size_t FabricEnd::poll() {
  fi_cq_entry entries[64];
  const ssize_t got = fi_cq_read(cq_.get(), entries, std::size(entries));
  if (got > 0) return static_cast<size_t>(got);
  if (got == -FI_EAGAIN) return 0;
  fi_cq_err_entry error{};
  fi_cq_readerr(cq_.get(), &error, 0);
  // Some providers report the reason as a negative number.
  throw std::runtime_error(std::string("a fabric operation failed: ") + fi_strerror(abs(error.err)));
}

}  // namespace railshmem::perf
