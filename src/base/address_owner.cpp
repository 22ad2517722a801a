// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/address_owner.h"

#include <link.h>
#include <pthread.h>

#include <cstdint>
#include <cstring>

namespace railshmem {
namespace {

struct Search {
  uintptr_t address;
  bool executable = true;  ///< the executable is listed first
  AddressOwner found = {};
};

Owner kind_in_executable(const dl_phdr_info& object, const ElfW(Phdr) & segment, uintptr_t address) {
  if ((segment.p_flags & PF_W) == 0) return Owner::constant;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    // Written by the dynamic linker only, for example tables of pointers to functions.
    if (header.p_type == PT_GNU_RELRO && address - (object.dlpi_addr + header.p_vaddr) < header.p_memsz)
      return Owner::constant;
  }
  return Owner::global;
}

int look_into(dl_phdr_info* object, size_t, void* out) {
  auto& search = *static_cast<Search*>(out);
  const bool executable = search.executable;
  search.executable = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    const bool tls = header.p_type == PT_TLS && object->dlpi_tls_data != nullptr;
    if (!tls && header.p_type != PT_LOAD) continue;
    const uintptr_t begin =
        tls ? reinterpret_cast<uintptr_t>(object->dlpi_tls_data) : object->dlpi_addr + header.p_vaddr;
    if (search.address - begin >= header.p_memsz) continue;
    if (tls) {
      search.found.kind = Owner::thread_local_;
    } else if (executable) {
      search.found.kind = kind_in_executable(*object, header, search.address);
    } else {
      const char* slash = std::strrchr(object->dlpi_name, '/');
      search.found = {Owner::library, slash ? slash + 1 : object->dlpi_name};
    }
    return 1;
  }
  return 0;
}

bool on_own_stack(uintptr_t address) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void* lowest = nullptr;
  size_t nbytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &nbytes) == 0;
  pthread_attr_destroy(&attributes);
  return known && address - reinterpret_cast<uintptr_t>(lowest) < nbytes;
}

}  // namespace

AddressOwner find_owner(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address)};
  if (dl_iterate_phdr(look_into, &search) != 0) return search.found;
  if (on_own_stack(search.address)) return {Owner::stack};
  return {};
}

}  // namespace railshmem
