// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/hints.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <initializer_list>
#include <new>

#include "transports/ofi/quirks.h"

namespace railshmem::ofi {
namespace {

struct Flag {
  uint64_t bit;
  const char* name;
};

std::string names(uint64_t bits, std::initializer_list<Flag> flags, const char* none) {
  std::string all;
  for (const Flag& flag : flags) {
    if (!(bits & flag.bit)) continue;
    if (!all.empty()) all += ',';
    all += flag.name;
  }
  return all.empty() ? none : all;
}

}  // namespace

uint32_t api_version() noexcept {
  // 1.20 is the newest whose meaning we rely on; an older header caps it, since it cannot know later structures.
  constexpr uint32_t header = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  return std::min<uint32_t>(header, FI_VERSION(1, 20));
}

Info make_hints(Progress progress, Memories memories) {
  Info hints(fi_allocinfo());
  if (!hints) throw std::bad_alloc();
  hints->ep_attr->type = FI_EP_RDM;
  // Not FI_ATOMIC: asking for it costs ofi_rxm its send-after-write order, and our AMOs travel as messages anyway.
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;  // OpSlot and the receive buffers start with a fi_context2
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  if (memories == Memories::host_and_gpu) {
    hints->caps |= FI_HMEM;
    hints->domain_attr->mr_mode |= FI_MR_HMEM;
  }
  hints->domain_attr->threading = FI_THREAD_COMPLETION;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->av_type = FI_AV_TABLE;
  const fi_progress mode = progress == Progress::thread ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
  hints->domain_attr->control_progress = mode;
  hints->domain_attr->data_progress = mode;
  // No msg_order: a provider then reports the order it keeps anyway. Asking shm for more than that turns its
  // single-copy path off.
  return hints;
}

std::string mr_mode_text(const fi_info& info) {
  return names(static_cast<uint64_t>(info.domain_attr->mr_mode),
               {{FI_MR_LOCAL, "local"},
                {FI_MR_VIRT_ADDR, "virt_addr"},
                {FI_MR_ALLOCATED, "allocated"},
                {FI_MR_PROV_KEY, "prov_key"},
                {FI_MR_ENDPOINT, "endpoint"},
                {FI_MR_HMEM, "hmem"}},
               "none");
}

std::string progress_text(const fi_info& info) {
  return info.domain_attr->data_progress == FI_PROGRESS_AUTO ? "thread" : "manual";
}

std::string order_text(const fi_info& info) {
  return names(
      info.tx_attr->msg_order & info.rx_attr->msg_order,
      {{FI_ORDER_WAW, "write-after-write"}, {FI_ORDER_SAW, "send-after-write"}, {FI_ORDER_SAS, "send-after-send"}},
      "none");
}

bool orders_message_after_write(const fi_info& info) noexcept {
  if (!quirks_of(info).keeps_order) return false;
  constexpr uint64_t kOrder = FI_ORDER_SAW | FI_ORDER_WAW;
  if ((info.tx_attr->msg_order & info.rx_attr->msg_order & kOrder) != kOrder) return false;
  // SAW alone orders the headers. Data is placed in order only up to max_order_waw_size, so it must cover any write.
  return info.ep_attr->max_order_waw_size >= info.ep_attr->max_msg_size;
}

}  // namespace railshmem::ofi
