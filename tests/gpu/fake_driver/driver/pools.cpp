// SPDX-License-Identifier: BSD-3-Clause
// Memory pools of the fake driver (cudaMallocAsync), and what other processes import of them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "src/base/align.h"
#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

constexpr uint64_t kMagic = 0x6c6f6f7020656b66;

/// What the file of an exported pool holds.
struct PoolFile {
  uint64_t magic;
  pid_t owner;
  int home;
};

Pool make_pool(FakeState& s, Device device, int handle_types) {
  const Pool pool =
      new PoolObject{s.physical[static_cast<size_t>(device)], device, handle_types, getpid(), {device}, {}};
  s.pools.insert(pool);
  return pool;
}

Result allocate(FakeState& s, Address* address, size_t nbytes, Pool pool) {
  FakeAllocation allocation{align_up(nbytes, 4096), pool->device, 0};
  if (allocation.nbytes > s.options.memory_nbytes - s.used[static_cast<size_t>(pool->device)]) return kOutOfMemory;
  allocation.fd = fake_memory(s, pool->device, allocation.nbytes);
  allocation.pool = pool;
  if (nbytes == 0 || !allocation.fd) return kOutOfMemory;
  *address = fake_place(s, std::move(allocation));
  return *address != 0 ? kSuccess : kOutOfMemory;
}

}  // namespace

extern "C" {

// These are not of the library's table: programs call them, as cudaMemPoolCreate and cudaMallocAsync do.
Result cuMemPoolCreate(Pool* pool, const PoolProperties* properties) {
  FAKE_CALL(context);
  if (properties->type != kPinnedAllocation || properties->location.type != kAtDevice ||
      !fake_is_device(s, properties->location.id))
    return kInvalidValue;
  *pool = make_pool(s, properties->location.id, properties->handle_types);
  return kSuccess;
}
Result cuMemAllocFromPoolAsync(Address* address, size_t nbytes, Pool pool, Stream handle) {
  FAKE_CALL(context);
  if (fake_stream(s, handle) == nullptr) return kInvalidHandle;
  if (s.pools.count(pool) == 0 || pool->owner != getpid()) return kInvalidValue;
  return allocate(s, address, nbytes, pool);
}
/// As with the real one, no pool of cudaMallocAsync can be exported unless the program made it so.
Result cuMemAllocAsync(Address* address, size_t nbytes, Stream handle) {
  FAKE_CALL(context);
  if (fake_stream(s, handle) == nullptr) return kInvalidHandle;
  return allocate(s, address, nbytes, make_pool(s, fake_context()->device, 0));
}
Result cuMemFreeAsync(Address address, Stream handle) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  const auto found = s.allocations.find(address);
  if (stream == nullptr) return kInvalidHandle;
  if (found == s.allocations.end() || found->second.pool == nullptr) return kInvalidValue;
  fake_give(s, stream, [&s, address] { return fake_displace(s, address), true; });
  return kSuccess;
}

Result cuMemPoolDestroy(Pool pool) {
  FAKE_CALL(context);
  if (s.pools.count(pool) == 0) return kInvalidValue;
  for (const auto& [address, allocation] : s.allocations)
    if (allocation.pool == pool) return kInvalidValue;  // the real one waits for these; the library must not leave any
  s.pools.erase(pool);
  delete pool;
  return kSuccess;
}
Result cuMemPoolSetAccess(Pool pool, const AccessDescription* access, size_t count) {
  FAKE_CALL(context);
  if (s.pools.count(pool) == 0) return kInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    const Device device = access[i].location.id;
    if (!fake_is_device(s, device) || access[i].flags != kReadWrite) return kInvalidValue;
    if (!fake_reaches(s, device, pool->home)) return kPeerAccessUnsupported;
    pool->access.insert(device);
  }
  return kSuccess;
}
Result cuMemPoolExportToShareableHandle(void* shareable, Pool pool, int type, unsigned long long flags) {
  FAKE_CALL(context);
  if (s.pools.count(pool) == 0 || type != kHandlePosixFd || flags != 0 || pool->owner != getpid() ||
      (pool->handle_types & kHandlePosixFd) == 0)
    return kInvalidValue;
  const PoolFile about{kMagic, pool->owner, pool->home};
  UniqueFd fd(memfd_create("fake-gpu-pool", MFD_CLOEXEC));
  if (!fd || write(fd.get(), &about, sizeof about) != sizeof about) return kOutOfMemory;
  const int given = fd.release();
  std::memcpy(shareable, &given, sizeof given);
  return kSuccess;
}
Result cuMemPoolImportFromShareableHandle(Pool* pool, void* shareable, int type, unsigned long long flags) {
  FAKE_CALL(context);
  PoolFile about{};
  const int fd = static_cast<int>(reinterpret_cast<intptr_t>(shareable));
  if (type != kHandlePosixFd || flags != 0 || pread(fd, &about, sizeof about, 0) != sizeof about ||
      about.magic != kMagic)
    return kInvalidValue;
  const Device device = fake_device_of(s, about.home);
  *pool = new PoolObject{about.home, device, 0, about.owner, {}, {}};
  if (device >= 0) (*pool)->access.insert(device);
  s.pools.insert(*pool);
  return kSuccess;
}
Result cuMemPoolExportPointer(PoolPointer* exported, Address address) {
  FAKE_CALL(context);
  const auto found = s.allocations.find(address);
  if (found == s.allocations.end() || found->second.pool == nullptr || found->second.opened > 0 ||
      (found->second.pool->handle_types & kHandlePosixFd) == 0)
    return kInvalidValue;
  const FakeAllocation& own = found->second;
  const FakeOrigin origin = fake_origin(own.fd, own.buffer_id, found->first, own.nbytes, own.pool->home);
  *exported = {};
  static_assert(sizeof origin <= sizeof exported->bytes);
  std::memcpy(exported->bytes.data(), &origin, sizeof origin);
  return kSuccess;
}
Result cuMemPoolImportPointer(Address* address, Pool pool, PoolPointer* exported) {
  FAKE_CALL(context);
  FakeOrigin origin;
  std::memcpy(&origin, exported->bytes.data(), sizeof origin);
  if (s.pools.count(pool) == 0 || pool->owner != origin.pid) return kInvalidValue;
  FakeAllocation allocation{origin.nbytes, pool->device, 0};
  allocation.fd = fake_open(origin);
  if (!allocation.fd) return kMapFailed;
  allocation.origin = origin;
  allocation.opened = 1;
  allocation.pool = pool;
  *address = fake_place(s, std::move(allocation));
  return *address != 0 ? kSuccess : kMapFailed;
}

}  // extern "C"
}  // namespace railshmem::cuda
