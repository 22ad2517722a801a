// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/gpu_way.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstring>
#include <exception>
#include <string_view>

#include "src/base/error.h"
#include "src/base/log.h"

// FI_OPT_CUDA_API_PERMITTED is an enumerator, of libfabric 1.18 and later.
#define RAILSHMEM_HAVE_CUDA_OPTION (FI_MAJOR_VERSION > 1 || FI_MINOR_VERSION >= 18)

namespace railshmem::ofi {
namespace {

bool same(const char* a, const char* b) noexcept {
  return std::string_view(a ? a : "") == std::string_view(b ? b : "");
}

bool same_address(const fi_info& a, const fi_info& b) noexcept {
  if (a.addr_format != b.addr_format) return false;
  if (a.addr_format == FI_ADDR_STR) return true;  // made of the process's number
  return a.src_addrlen == b.src_addrlen &&
         (a.src_addrlen == 0 || std::memcmp(a.src_addr, b.src_addr, a.src_addrlen) == 0);
}

}  // namespace

const char* name_of(GpuWay way) noexcept {
  switch (way) {
    case GpuWay::hmem:
      return "fi_hmem";
    case GpuWay::dmabuf:
      return "dmabuf";
    case GpuWay::either:
      return "fi_hmem, or else dmabuf";
    case GpuWay::pretended:
      return "as the host's (SHMEM_TEST_REACHED_GPUS)";
    case GpuWay::staging:
      break;
  }
  return "staging";
}

GpuWay wanted_way(const NetworkConfig& config) {
  if (!config.device_heap()) return GpuWay::staging;
  if (config.env->test_reached_gpus) return GpuWay::pretended;
#ifdef FI_MR_DMABUF
  constexpr bool kKnowsDmabuf = true;
#else
  constexpr bool kKnowsDmabuf = false;
#endif
  switch (config.env->ofi_hmem) {
    case OfiHmemMode::staging:
      return GpuWay::staging;
    case OfiHmemMode::hmem:
      return GpuWay::hmem;
    case OfiHmemMode::automatic:
      return kKnowsDmabuf ? GpuWay::either : GpuWay::hmem;
    case OfiHmemMode::dmabuf:
      break;
  }
  if (!kKnowsDmabuf)
    throw Error(
        text("SHMEM_OFI_HMEM is dmabuf, but this library was built with the headers of libfabric %u.%u, which have no "
             "FI_MR_DMABUF (1.20 and later do); set it to auto, hmem or staging",
             FI_MAJOR_VERSION, FI_MINOR_VERSION));
  return GpuWay::dmabuf;
}

const fi_info* twin_of(const fi_info& plain, std::span<const Info> granted) noexcept {
  for (const Info& info : granted)
    if (same(info->fabric_attr->prov_name, plain.fabric_attr->prov_name) &&
        same(info->domain_attr->name, plain.domain_attr->name) &&
        same(info->fabric_attr->name, plain.fabric_attr->name) && info->ep_attr->protocol == plain.ep_attr->protocol &&
        same_address(*info, plain))
      return info.get();
  return nullptr;
}

bool forbid_cuda([[maybe_unused]] fid_ep& endpoint) noexcept {
#if RAILSHMEM_HAVE_CUDA_OPTION
  const bool permitted = false;
  return fi_setopt(&endpoint.fid, FI_OPT_ENDPOINT, FI_OPT_CUDA_API_PERMITTED, &permitted, sizeof permitted) == 0;
#else
  return false;
#endif
}

bool moves_without_cuda([[maybe_unused]] const fi_info& granted, [[maybe_unused]] const NicFacts& facts) {
#if RAILSHMEM_HAVE_CUDA_OPTION
  try {
    const char* const provider = granted.fabric_attr->prov_name;
    const Info info(fi_dupinfo(&granted));
    const auto fabric = own<fid_fabric>("fi_fabric", provider,
                                        [&](fid_fabric** out) { return fi_fabric(info->fabric_attr, out, nullptr); });
    const auto domain = own<fid_domain>(
        "fi_domain", provider, [&](fid_domain** out) { return fi_domain(fabric.get(), info.get(), out, nullptr); });
    const auto endpoint = own<fid_ep>(
        "fi_endpoint", provider, [&](fid_ep** out) { return fi_endpoint(domain.get(), info.get(), out, nullptr); });
    return forbid_cuda(*endpoint);
  } catch (const std::exception& error) {
    log_debug("%s is not asked how it moves GPU memory: %s", granted.fabric_attr->prov_name, error.what());
    return false;
  }
#else
  return !facts.pci.empty();  // its NICs bypass the kernel, and then the CPU as well
#endif
}

}  // namespace railshmem::ofi
