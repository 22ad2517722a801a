// SPDX-License-Identifier: BSD-3-Clause
// Owners of libfabric objects, and the check that turns a return code into an Error.
#pragma once

#include <rdma/fabric.h>

#include <memory>
#include <source_location>
#include <string_view>
#include <type_traits>

namespace railshmem::ofi {

/// Closes any fid_*; a refused close is logged, because a destructor has nobody to tell.
void close_fid(fid* object) noexcept;

struct CloseFid {
  template <class F>
  void operator()(F* object) const noexcept {
    close_fid(&object->fid);
  }
};
template <class F>
using Fid = std::unique_ptr<F, CloseFid>;

struct FreeInfo {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// Throws Error naming the call, libfabric's reason and the provider when `rc` is negative.
void check(ssize_t rc, const char* call, std::string_view provider,
           std::source_location where = std::source_location::current());

/// Opens an object: `open` gets the address of the raw pointer and returns libfabric's code.
template <class F, class Open>
Fid<F> own(const char* call, std::string_view provider, Open&& open,
           std::source_location where = std::source_location::current()) {
  F* raw = nullptr;
  check(open(&raw), call, provider, where);
  return Fid<F>(raw);
}

}  // namespace railshmem::ofi
