// SPDX-License-Identifier: BSD-3-Clause
// cudaMalloc of the fake driver, and what other processes open of it (CUDA IPC).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "src/base/align.h"
#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

constexpr size_t kPage = 4096;

/// Allocators give out again first what was freed last, and so does this one.
void* take_addresses(FakeState& s, size_t nbytes) {
  std::vector<Address>& before = s.freed[nbytes];
  while (!before.empty()) {
    void* const wish = pointer_to(before.back());
    before.pop_back();
    void* const taken =
        mmap(wish, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (taken == wish) return taken;
    if (taken != MAP_FAILED) munmap(taken, nbytes);
  }
  return mmap(nullptr, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

FakeOrigin origin_in(const IpcHandle& handle) {
  FakeOrigin origin;
  static_assert(sizeof origin <= sizeof handle);
  std::memcpy(&origin, handle.bytes.data(), sizeof origin);
  return origin;
}

bool overlap(const FakeOrigin& a, const FakeOrigin& b) {
  return a.pid == b.pid && a.address < b.address + b.nbytes && b.address < a.address + a.nbytes;
}

}  // namespace

FakeOrigin fake_origin(const UniqueFd& fd, uint64_t buffer_id, Address address, size_t nbytes, int home) {
  struct stat file {};
  fstat(fd.get(), &file);
  return {getpid(), fd.get(), buffer_id, address, nbytes, home, file.st_ino};
}
UniqueFd fake_open(const FakeOrigin& origin) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(origin.pid), origin.fd);
  UniqueFd fd(open(path, O_RDWR | O_CLOEXEC));
  struct stat file {};
  return fd && fstat(fd.get(), &file) == 0 && file.st_ino == origin.inode ? std::move(fd) : UniqueFd();
}

Address fake_place(FakeState& s, FakeAllocation allocation) {
  const size_t nbytes = allocation.nbytes;
  void* const taken = take_addresses(s, nbytes);
  if (taken == MAP_FAILED) return 0;
  const bool open = s.options.open;
  void* const bytes = mmap(open ? taken : nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | (open ? MAP_FIXED : 0),
                           allocation.fd.get(), 0);
  if (bytes == MAP_FAILED) {
    munmap(taken, nbytes);
    return 0;
  }
  if (!open) allocation.bytes = static_cast<std::byte*>(bytes);
  allocation.buffer_id = ++s.last_buffer_id;
  s.allocations[address_of(taken)] = std::move(allocation);
  return address_of(taken);
}

void fake_displace(FakeState& s, Address address) {
  const auto found = s.allocations.find(address);
  const FakeAllocation& allocation = found->second;
  munmap(pointer_to(address), allocation.nbytes);
  if (allocation.bytes != nullptr) munmap(allocation.bytes, allocation.nbytes);
  s.freed[allocation.nbytes].push_back(address);
  s.allocations.erase(found);
}

extern "C" {

// Not of the library's table: programs call it, as cudaMalloc does. The CPU faults there, but for the option `open`.
Result cuMemAlloc_v2(Address* address, size_t nbytes) {
  FAKE_CALL(context);
  FakeAllocation allocation{align_up(nbytes, kPage), fake_context()->device, 0};
  allocation.fd = fake_memory(s, allocation.device, allocation.nbytes);
  if (nbytes == 0 || !allocation.fd) return kOutOfMemory;
  *address = fake_place(s, std::move(allocation));
  return *address != 0 ? kSuccess : kOutOfMemory;
}
/// Waits for the device as the real one does, for what others have opened too.
Result cuMemFree_v2(Address address) {
  FAKE_CALL(undisturbed);
  const auto found = s.allocations.find(address);
  if (found == s.allocations.end() || !found->second.fd || (found->second.opened > 0 && found->second.pool == nullptr))
    return kInvalidValue;
  const Context mine = fake_context();
  fake_wait_locked(call, mine, [&] {
    return std::all_of(s.streams.begin(), s.streams.end(),
                       [&](const FakeStream& stream) { return stream->context != mine || stream->work.empty(); });
  });
  fake_displace(s, address);
  return kSuccess;
}

Result cuIpcGetMemHandle(IpcHandle* handle, Address address) {
  FAKE_CALL(context);
  const auto found = fake_find(s.allocations, address);
  if (found == s.allocations.end() || !found->second.fd || found->second.opened > 0 || found->second.pool != nullptr)
    return kInvalidValue;
  const FakeAllocation& own = found->second;
  const FakeOrigin origin =
      fake_origin(own.fd, own.buffer_id, found->first, own.nbytes, s.physical[static_cast<size_t>(own.device)]);
  *handle = {};
  std::memcpy(handle->bytes.data(), &origin, sizeof origin);
  return kSuccess;
}
Result cuIpcOpenMemHandle_v2(Address* address, IpcHandle handle, unsigned flags) {
  FAKE_CALL(context);
  const FakeOrigin origin = origin_in(handle);
  if (flags != kIpcEnablesPeerAccess) return kInvalidValue;
  if (origin.pid == getpid()) return kInvalidContext;  // only processes other than the owner
  if (!fake_reaches(s, fake_context()->device, origin.home)) return kPeerAccessUnsupported;
  for (auto& [at, other] : s.allocations) {
    if (other.opened == 0 || other.pool != nullptr || !overlap(other.origin, origin)) continue;
    if (other.origin.buffer_id != origin.buffer_id) return kAlreadyMapped;
    ++other.opened;
    *address = at;
    return kSuccess;
  }
  const auto is_open = [](const auto& one) { return one.second.opened > 0 && one.second.pool == nullptr; };
  if (static_cast<size_t>(std::count_if(s.allocations.begin(), s.allocations.end(), is_open)) >= s.options.open_blocks)
    return kOutOfMemory;
  FakeAllocation allocation{origin.nbytes, fake_device_of(s, origin.home), 0};
  allocation.fd = fake_open(origin);
  if (!allocation.fd) return kMapFailed;
  allocation.origin = origin;
  allocation.opened = 1;
  *address = fake_place(s, std::move(allocation));
  return *address != 0 ? kSuccess : kMapFailed;
}
/// Waits for the device, as the real one does.
Result cuIpcCloseMemHandle(Address address) {
  FAKE_CALL(undisturbed);
  const auto found = s.allocations.find(address);
  if (found == s.allocations.end() || found->second.opened == 0 || found->second.pool != nullptr) return kInvalidValue;
  const Context mine = fake_context();
  fake_wait_until(call, [&] {
    return std::all_of(s.streams.begin(), s.streams.end(),
                       [&](const FakeStream& stream) { return stream->context != mine || stream->work.empty(); });
  });
  if (--found->second.opened == 0) fake_displace(s, address);
  return kSuccess;
}

}  // extern "C"
}  // namespace railshmem::cuda
