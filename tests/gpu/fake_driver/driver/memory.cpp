// SPDX-License-Identifier: BSD-3-Clause
// Virtual memory, pinned memory and addresses of the fake driver.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/base/align.h"
#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

constexpr size_t kGranularity = size_t{2} << 20;
constexpr const char* kMemoryName = "fake-gpu-memory-";

bool is_granular(Address address, size_t nbytes) noexcept {
  return nbytes != 0 && nbytes % kGranularity == 0 && address % kGranularity == 0;
}

/// The GPU to whose memory a file belongs; -1 where the file is no memory.
int home_of(int fd) {
  char path[64];
  char name[PATH_MAX] = {};
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (readlink(path, name, sizeof name - 1) < 0) return -1;
  const char* const found = std::strstr(name, kMemoryName);
  return found == nullptr ? -1 : std::atoi(found + std::strlen(kMemoryName));
}

bool reserve_again(Address address, size_t nbytes) {
  return mmap(pointer_to(address), nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

auto find_reservation(const FakeState& s, Address address) {
  auto after = s.reservations.upper_bound(address);
  if (after == s.reservations.begin()) return s.reservations.end();
  const auto found = std::prev(after);
  return address - found->first < found->second ? found : s.reservations.end();
}

/// The mappings that make up exactly this range; empty if none match.
std::vector<Address> whole_mappings(const FakeState& s, Address address, size_t nbytes) {
  std::vector<Address> found;
  Address at = address;
  while (at < address + nbytes) {
    const auto mapping = s.mappings.find(at);
    if (mapping == s.mappings.end()) return {};
    found.push_back(at);
    at += mapping->second.nbytes;
  }
  return at == address + nbytes ? found : std::vector<Address>{};
}

MemoryHandle keep(FakeState& s, UniqueFd fd, size_t nbytes, int home, size_t* used,
                  const AllocationProperties& properties) {
  const auto memory = std::make_shared<FakePhysical>();
  memory->id = ++s.last_buffer_id;
  memory->properties = properties;
  memory->fd = std::move(fd);
  memory->nbytes = nbytes;
  memory->home = home;
  memory->used = used;
  memory->imported = used == nullptr;
  s.handles[++s.last_handle] = memory;
  return s.last_handle;
}

Result pin(FakeState& s, Address address, size_t nbytes, bool registered) {
  s.pinned[address] = {nbytes, registered, ++s.last_buffer_id};
  return kSuccess;
}

}  // namespace

UniqueFd fake_memory(const FakeState& s, Device device, size_t nbytes) {
  const std::string name = kMemoryName + std::to_string(s.physical[static_cast<size_t>(device)]);
  UniqueFd fd(memfd_create(name.c_str(), MFD_CLOEXEC));
  return fd && ftruncate(fd.get(), static_cast<off_t>(nbytes)) == 0 ? std::move(fd) : UniqueFd();
}
bool fake_usable(const FakeState& s, Address address, size_t nbytes, Device device) {
  if (const auto given = fake_find(s.allocations, address); given != s.allocations.end())
    return address + nbytes <= given->first + given->second.nbytes &&
           (given->second.pool == nullptr || given->second.pool->access.count(device) != 0);
  if (find_reservation(s, address) == s.reservations.end()) return true;  // not the driver's, or all of it usable
  for (Address at = address; at < address + nbytes;) {
    const auto mapping = fake_find(s.mappings, at);
    if (mapping == s.mappings.end() || mapping->second.access.count(device) == 0) return false;
    at = mapping->first + mapping->second.nbytes;
  }
  return true;
}
std::byte* fake_bytes(const FakeState& s, Address address) {
  const auto given = fake_find(s.allocations, address);
  if (given != s.allocations.end() && given->second.bytes != nullptr)
    return given->second.bytes + (address - given->first);
  const auto found = s.options.guarded ? find_reservation(s, address) : s.reservations.end();
  if (found == s.reservations.end()) return pointer_to(address);
  return pointer_to(s.engines_views.at(found->first) + (address - found->first));
}
bool fake_is_device_memory(FakeState& s, Address address) {
  return fake_find(s.mappings, address) != s.mappings.end() || fake_find(s.allocations, address) != s.allocations.end();
}
bool fake_is_imported(FakeState& s, Address address) {
  const auto mapping = fake_find(s.mappings, address);
  return mapping != s.mappings.end() && mapping->second.memory->imported;
}
bool fake_is_pageable(FakeState& s, Address address) {
  return !fake_is_device_memory(s, address) && fake_find(s.pinned, address) == s.pinned.end();
}

extern "C" {

Result cuMemGetInfo_v2(size_t* unused, size_t* total) {
  FAKE_CALL(context);
  *total = s.options.memory_nbytes;
  *unused = *total - s.used[static_cast<size_t>(fake_context()->device)];
  return kSuccess;
}
Result cuMemGetAllocationGranularity(size_t* granularity, const AllocationProperties* properties, int) {
  FAKE_CALL(start);
  if (properties->type != kPinnedAllocation || !fake_is_device(s, properties->location.id)) return kInvalidValue;
  *granularity = kGranularity;
  return kSuccess;
}
Result cuMemCreate(MemoryHandle* handle, size_t nbytes, const AllocationProperties* properties,
                   unsigned long long flags) {
  FAKE_CALL(context);
  const Device device = properties->location.id;
  if (!is_granular(0, nbytes) || flags != 0 || properties->type != kPinnedAllocation || !fake_is_device(s, device) ||
      properties->location.type != kAtDevice)
    return kInvalidValue;
  size_t& used = s.used[static_cast<size_t>(device)];
  if (nbytes > s.options.memory_nbytes - used) return kOutOfMemory;
  const int home = s.physical[static_cast<size_t>(device)];
  UniqueFd fd = fake_memory(s, device, nbytes);
  if (!fd) return kOutOfMemory;
  used += nbytes;
  *handle = keep(s, std::move(fd), nbytes, home, &used, *properties);
  return kSuccess;
}
Result cuMemRelease(MemoryHandle handle) {
  FAKE_CALL(context);
  return s.handles.erase(handle) == 1 ? kSuccess : kInvalidValue;
}
Result cuMemAddressReserve(Address* address, size_t nbytes, size_t alignment, Address, unsigned long long) {
  FAKE_CALL(start);
  const size_t align = std::max(alignment, kGranularity);
  if (!is_granular(0, nbytes) || !is_power_of_two(align)) return kInvalidValue;
  void* const found = mmap(nullptr, nbytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return kOutOfMemory;
  *address = align_up(address_of(found), align);
  if (!s.options.keeps_alignment && align > kGranularity) *address = align_up(address_of(found) + 1, kGranularity);
  if (!s.options.keeps_alignment && align > kGranularity && *address % align == 0) *address += kGranularity;
  const size_t before = *address - address_of(found);
  if (before != 0) munmap(found, before);
  if (before != align) munmap(pointer_to(*address + nbytes), align - before);
  s.reservations[*address] = nbytes;
  if (!s.options.guarded) return kSuccess;
  void* const engines = mmap(nullptr, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (engines == MAP_FAILED) return kOutOfMemory;
  s.engines_views[*address] = address_of(engines);
  return kSuccess;
}
Result cuMemAddressFree(Address address, size_t nbytes) {
  FAKE_CALL(start);
  const auto found = s.reservations.find(address);
  if (found == s.reservations.end() || found->second != nbytes) return kInvalidValue;
  const auto mapped = s.mappings.lower_bound(address);
  if (mapped != s.mappings.end() && mapped->first < address + nbytes) return kInvalidValue;
  munmap(pointer_to(address), nbytes);
  if (s.options.guarded) munmap(fake_bytes(s, address), nbytes);
  s.engines_views.erase(address);
  s.reservations.erase(found);
  return kSuccess;
}
Result cuMemMap(Address address, size_t nbytes, size_t offset, MemoryHandle handle, unsigned long long flags) {
  FAKE_CALL(context);
  const auto memory = s.handles.find(handle);
  const auto reservation = find_reservation(s, address);
  if (memory == s.handles.end() || reservation == s.reservations.end() || !is_granular(address, nbytes) ||
      offset != 0 || flags != 0 || nbytes > memory->second->nbytes ||
      address + nbytes > reservation->first + reservation->second)
    return kInvalidValue;
  const auto next = s.mappings.lower_bound(address);
  if (fake_find(s.mappings, address) != s.mappings.end() ||
      (next != s.mappings.end() && next->first < address + nbytes))
    return kInvalidValue;
  if (mmap(pointer_to(address), nbytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->second->fd.get(), 0) == MAP_FAILED)
    return kOutOfMemory;
  if (s.options.guarded && mmap(fake_bytes(s, address), nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                                memory->second->fd.get(), 0) == MAP_FAILED)
    return kOutOfMemory;
  s.mappings[address] = {nbytes, memory->second, {}, ++s.last_buffer_id};
  return kSuccess;
}
Result cuMemUnmap(Address address, size_t nbytes) {
  FAKE_CALL(context);
  const std::vector<Address> found = whole_mappings(s, address, nbytes);
  if (found.empty() || !reserve_again(address, nbytes)) return kInvalidValue;
  if (s.options.guarded && !reserve_again(address_of(fake_bytes(s, address)), nbytes)) return kInvalidValue;
  for (const Address mapping : found) s.mappings.erase(mapping);
  return kSuccess;
}
Result cuMemSetAccess(Address address, size_t nbytes, const AccessDescription* access, size_t count) {
  FAKE_CALL(context);
  const std::vector<Address> found = whole_mappings(s, address, nbytes);
  if (found.empty() || count == 0) return kInvalidValue;
  for (const Address at : found) {
    FakeMapping& mapping = s.mappings[at];
    for (size_t i = 0; i < count; ++i) {
      const Device device = access[i].location.id;
      if (!fake_is_device(s, device) || access[i].flags != kReadWrite) return kInvalidValue;
      if (!fake_reaches(s, device, mapping.memory->home)) return kInvalidDevice;
      mapping.access.insert(device);
    }
    if (s.options.guarded) continue;
    if (mprotect(pointer_to(at), mapping.nbytes, PROT_READ | PROT_WRITE) != 0) return kOutOfMemory;
  }
  return kSuccess;
}
Result cuMemExportToShareableHandle(void* shareable, MemoryHandle handle, int type, unsigned long long) {
  FAKE_CALL(context);
  const auto memory = s.handles.find(handle);
  if (memory == s.handles.end() || (memory->second->properties.handle_types & type) == 0) return kInvalidValue;
  const FakePhysical& physical = *memory->second;
  if (type == kHandleFabric) {
    const FakeOrigin origin = fake_origin(physical.fd, physical.id, 0, physical.nbytes, physical.home);
    std::memcpy(shareable, &origin, sizeof origin);
    return kSuccess;
  }
  if (type != kHandlePosixFd) return kInvalidValue;
  const int fd = fcntl(physical.fd.get(), F_DUPFD_CLOEXEC, 0);
  std::memcpy(shareable, &fd, sizeof fd);
  return fd >= 0 ? kSuccess : kInvalidValue;
}
Result cuMemRetainAllocationHandle(MemoryHandle* handle, void* address) {
  FAKE_CALL(context);
  const auto mapping = fake_find(s.mappings, address_of(address));
  if (mapping == s.mappings.end()) return kInvalidValue;
  s.handles[++s.last_handle] = mapping->second.memory;
  *handle = s.last_handle;
  return kSuccess;
}
Result cuMemGetAllocationPropertiesFromHandle(AllocationProperties* properties, MemoryHandle handle) {
  FAKE_CALL(start);
  const auto memory = s.handles.find(handle);
  if (memory == s.handles.end()) return kInvalidValue;
  *properties = memory->second->properties;
  return kSuccess;
}
Result cuMemImportFromShareableHandle(MemoryHandle* handle, void* shareable, int type) {
  FAKE_CALL(context);
  if (type == kHandleFabric) {
    FakeOrigin origin;
    std::memcpy(&origin, shareable, sizeof origin);
    UniqueFd fd = fake_open(origin);
    if (!fd) return kInvalidValue;
    *handle = keep(s, std::move(fd), origin.nbytes, origin.home, nullptr, {});
    return kSuccess;
  }
  const int fd = static_cast<int>(reinterpret_cast<intptr_t>(shareable));
  const int home = type == kHandlePosixFd ? home_of(fd) : -1;
  struct stat found {};
  if (home < 0 || fstat(fd, &found) != 0) return kInvalidValue;
  UniqueFd own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own) return kInvalidValue;
  *handle = keep(s, std::move(own), static_cast<size_t>(found.st_size), home, nullptr, {});
  return kSuccess;
}
Result cuMemGetAddressRange_v2(Address* base, size_t* nbytes, Address address) {
  FAKE_CALL(context);
  if (const auto mapping = fake_find(s.mappings, address); mapping != s.mappings.end()) {
    *base = mapping->first;
    *nbytes = mapping->second.nbytes;
    return kSuccess;
  }
  const auto allocation = fake_find(s.allocations, address);
  if (allocation == s.allocations.end()) return kNotFound;
  *base = allocation->first;
  *nbytes = allocation->second.nbytes;
  return kSuccess;
}
Result cuMemGetHandleForAddressRange(void* handle, Address address, size_t nbytes, int type, unsigned long long) {
  FAKE_CALL(context);
  const auto mapping = fake_find(s.mappings, address);
  if (type != kRangeHandleDmaBuf || mapping == s.mappings.end() || address % 4096 != 0 || nbytes % 4096 != 0 ||
      address + nbytes > mapping->first + mapping->second.nbytes)
    return kInvalidValue;
  const int fd = fcntl(mapping->second.memory->fd.get(), F_DUPFD_CLOEXEC, 0);
  std::memcpy(handle, &fd, sizeof fd);
  return fd >= 0 ? kSuccess : kInvalidValue;
}

Result cuMemHostAlloc(void** memory, size_t nbytes, unsigned) {
  FAKE_CALL(undisturbed);
  *memory = nbytes == 0 ? nullptr : std::aligned_alloc(4096, align_up(nbytes, 4096));
  if (*memory == nullptr) return kInvalidValue;
  std::memset(*memory, 0xa5, align_up(nbytes, 4096));
  return pin(s, address_of(*memory), align_up(nbytes, 4096), false);
}
Result cuMemFreeHost(void* memory) {
  FAKE_CALL(undisturbed);
  const auto found = s.pinned.find(address_of(memory));
  if (found == s.pinned.end() || found->second.registered) return kInvalidValue;
  s.pinned.erase(found);
  std::free(memory);
  return kSuccess;
}
Result cuMemHostRegister_v2(void* memory, size_t nbytes, unsigned) {
  FAKE_CALL(undisturbed);
  if (memory == nullptr || nbytes == 0) return kInvalidValue;
  if (fake_find(s.pinned, address_of(memory)) != s.pinned.end()) return kAlreadyRegistered;
  return pin(s, address_of(memory), nbytes, true);
}
Result cuMemHostUnregister(void* memory) {
  FAKE_CALL(undisturbed);
  const auto found = s.pinned.find(address_of(memory));
  if (found == s.pinned.end() || !found->second.registered) return kNotRegistered;
  s.pinned.erase(found);
  return kSuccess;
}
Result cuMemHostGetDevicePointer_v2(Address* device, void* memory, unsigned) {
  FAKE_CALL(context);
  if (fake_find(s.pinned, address_of(memory)) == s.pinned.end()) return kInvalidValue;
  *device = address_of(memory);
  return kSuccess;
}

}  // extern "C"
}  // namespace railshmem::cuda
