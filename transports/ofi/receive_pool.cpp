// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/receive_pool.h"

#include <rdma/fi_errno.h>

#include "transports/ofi/in_libfabric.h"

namespace railshmem::ofi {

ReceivePool::ReceivePool(size_t count)
    : count_(count),
      bytes_(new (std::align_val_t{kMessageBytes}) std::byte[count * kMessageBytes]),
      contexts_(std::make_unique<fi_context2[]>(count)),
      idle_list_(std::make_unique<size_t[]>(count)) {}

void ReceivePool::start(fid_ep* ep, void* desc, const char* provider) {
  desc_ = desc;
  for (size_t i = 0; i < count_; ++i) {
    const int rc = post(ep, i);
    // A provider may take fewer than it announced; the others wait until one comes back.
    if (rc == -FI_EAGAIN && i > 0) {
      idle_list_[idle_++] = i;
      continue;
    }
    check(rc, "fi_recv", provider);
  }
}

int ReceivePool::post(fid_ep* ep, size_t index) noexcept {
  return static_cast<int>(
      (InLibfabric(), fi_recv(ep, buffer(index), kMessageBytes, desc_, FI_ADDR_UNSPEC, &contexts_[index])));
}

void ReceivePool::give_back(fid_ep* ep, size_t index) noexcept {
  if (post(ep, index) != 0) idle_list_[idle_++] = index;
}

int ReceivePool::retry(fid_ep* ep) noexcept {
  while (idle_ > 0) {
    const int rc = post(ep, idle_list_[idle_ - 1]);
    if (rc == -FI_EAGAIN) return 0;
    if (rc != 0) return -rc;
    --idle_;
  }
  return 0;
}

}  // namespace railshmem::ofi
