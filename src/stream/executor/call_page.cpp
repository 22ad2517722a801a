// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/executor/call_page.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace railshmem {
namespace {

constexpr size_t kAlign = 4096;

std::byte* new_pages(size_t nbytes) {
  void* const pages = std::aligned_alloc(kAlign, nbytes);
  if (!pages) throw std::bad_alloc();
  return static_cast<std::byte*>(std::memset(pages, 0, nbytes));
}

}  // namespace

CallPage::CallPage(const cuda::DeviceContext& gpu, size_t nbytes)
    : memory_(new_pages(nbytes)), pinned_(gpu, {memory_.get(), nbytes}) {}

}  // namespace railshmem
