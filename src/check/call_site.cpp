// SPDX-License-Identifier: BSD-3-Clause
#include "src/check/call_site.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace railshmem::check {
namespace {

constexpr int kFrames = 32;  // deeper than any path through the library

bool is_api(const char* symbol) noexcept {
  return symbol && (std::strncmp(symbol, "shmem", 5) == 0 || std::strncmp(symbol, "pshmem", 6) == 0);
}

/// The first frame of another object than this one; where the library is part of the executable, the frame that called
/// the outermost API function.
int find_frame(void* const* frames, int n) noexcept {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&find_call_site), &here);
  int outside = -1;
  bool inside = false;  // a sanitizer's frame of backtrace() may come first
  for (int i = 0; i < n; ++i) {
    Dl_info frame{};
    if (!dladdr(frames[i], &frame)) continue;
    if (frame.dli_fbase == here.dli_fbase) {
      inside = true;
    } else if (inside) {
      return outside >= 0 ? outside : i;
    }
    if (is_api(frame.dli_sname) && i + 1 < n) outside = i + 1;
  }
  return outside;
}

/// addr2line counts from the start of files that may lie anywhere, and knows absolute addresses of those that may not.
uintptr_t file_address(const Dl_info& info, uintptr_t address) noexcept {
  const auto* header = static_cast<const ElfW(Ehdr)*>(info.dli_fbase);
  return header->e_type == ET_EXEC ? address : address - reinterpret_cast<uintptr_t>(info.dli_fbase);
}

}  // namespace

CallSite find_call_site() noexcept {
  CallSite out{};
  void* frames[kFrames];
  const int at = find_frame(frames, backtrace(frames, kFrames));
  Dl_info info{};
  if (at < 0 || !dladdr(frames[at], &info)) {
    std::snprintf(out.data(), out.size(), "an unknown place");
    return out;
  }
  const auto address = reinterpret_cast<uintptr_t>(frames[at]);
  const uintptr_t call = file_address(info, address) - 1;  // the return address is behind the call
  char symbol[64] = "";
  if (info.dli_sname)
    std::snprintf(symbol, sizeof symbol, "%.40s+0x%zx in ", info.dli_sname,
                  address - reinterpret_cast<uintptr_t>(info.dli_saddr));
  const char* slash = std::strrchr(info.dli_fname, '/');
  const char* file = slash ? slash + 1 : info.dli_fname;
  std::snprintf(out.data(), out.size(), "%s%.40s (addr2line -fe %.40s 0x%zx)", symbol, file, file, call);
  return out;
}

}  // namespace railshmem::check
