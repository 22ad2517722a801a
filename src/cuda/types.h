// SPDX-License-Identifier: BSD-3-Clause
// Types and numbers of the CUDA driver's stable ABI, so that no CUDA header is needed to build. cuda_abi_test compares
// them with cuda.h where there is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace railshmem::cuda {

using Result = int;        ///< CUresult
using Device = int;        ///< CUdevice
using Address = uint64_t;  ///< CUdeviceptr; pinned and registered host memory has such an address too
using MemoryHandle = uint64_t;
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using Library = struct LibraryObject*;
using Kernel = struct KernelObject*;
using Pool = struct PoolObject*;
using Graph = struct GraphObject*;
using GraphNode = struct GraphNodeObject*;
using UserObject = struct UserObjectObject*;  ///< CUuserObject: what graphs keep for the program

inline Address address_of(const void* pointer) noexcept {
  return reinterpret_cast<uintptr_t>(pointer);
}
inline std::byte* pointer_to(Address address) noexcept {
  return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address));
}

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNotInitialized = 3;
inline constexpr Result kDeinitialized = 4;  ///< the process is ending
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kInvalidContext = 201;
inline constexpr Result kMapFailed = 205;
inline constexpr Result kAlreadyMapped = 208;  ///< of IPC: a freed block at these addresses of its owner is still open
inline constexpr Result kPeerAccessUnsupported = 217;
inline constexpr Result kInvalidHandle = 400;
inline constexpr Result kNotFound = 500;
inline constexpr Result kNotReady = 600;
inline constexpr Result kIllegalAddress = 700;  ///< from here to kLaunchFailed: mostly a kernel's fault, reported late
inline constexpr Result kContextIsDestroyed = 709;
inline constexpr Result kAlreadyRegistered = 712;
inline constexpr Result kNotRegistered = 713;
inline constexpr Result kLaunchFailed = 719;
inline constexpr Result kNotPermitted = 800;
inline constexpr Result kNotSupported = 801;
inline constexpr Result kCaptureUnsupported = 900;
inline constexpr Result kCaptureImplicit = 906;  ///< the default stream, while a stream that waits for it is captured

/// CU_DEVICE_ATTRIBUTE_...
enum class Attribute : int {
  multiprocessors = 16,
  pci_bus = 33,
  pci_device = 34,
  copy_engines = 40,
  pci_domain = 50,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  host_native_atomics = 86,
  registered_memory_at_same_address = 91,
  can_flush_remote_writes = 98,  ///< kWordsFlush and WordOp::flush_remote_writes work
  virtual_memory_management = 102,
  handle_type_posix_fd = 103,
  rdma_with_virtual_memory = 110,
  flush_writes_options = 117,
  writes_ordering = 118,
  words_of_64_bits = 122,
  dma_buf = 124,
  handle_type_fabric = 128,
  host_numa_node = 134,
};
inline constexpr int kFlushByHost = 1;        ///< bit of flush_writes_options
inline constexpr int kOrderedForOwner = 100;  ///< least writes_ordering at which the owner needs no flush
inline constexpr int kTargetCurrentContext = 0;
inline constexpr int kScopeOwner = 100;

/// CU_FUNC_ATTRIBUTE_...
enum class FunctionAttribute : int { required_cluster_width = 11 };
/// CU_DEVICE_P2P_ATTRIBUTE_...
enum class PeerAttribute : int { access = 2, native_atomics = 3 };

struct Uuid {
  std::array<char, 16> bytes;
  bool operator==(const Uuid&) const = default;
};

// Virtual memory management.
inline constexpr int kPinnedAllocation = 1;
inline constexpr int kAtDevice = 1;  ///< CU_MEM_LOCATION_TYPE_DEVICE
inline constexpr int kHandlePosixFd = 1;
inline constexpr int kHandleFabric = 8;
inline constexpr int kReadWrite = 3;
inline constexpr int kRecommendedGranularity = 1;
inline constexpr int kRangeHandleDmaBuf = 1;

struct Location {
  int type = kAtDevice;
  int id = 0;
};
struct AllocationProperties {
  int type = kPinnedAllocation;
  int handle_types = 0;
  Location location = {};
  void* windows_only = nullptr;
  uint8_t compression = 0;
  uint8_t rdma_capable = 0;
  uint16_t usage = 0;
  uint8_t reserved[4] = {};
};
struct AccessDescription {
  Location location = {};
  int flags = kReadWrite;
};
struct FabricHandle {
  std::array<std::byte, 64> bytes;
};

// Memory of other allocators, for other processes.
struct IpcHandle {
  std::array<std::byte, 64> bytes;
};
inline constexpr unsigned kIpcEnablesPeerAccess = 1;  ///< the only flags that the driver takes
/// Of one allocation of a pool; means something only together with the pool.
struct PoolPointer {
  std::array<std::byte, 64> bytes;
};

// Host memory.
inline constexpr unsigned kPinnedPortable = 1;  ///< for all contexts
inline constexpr unsigned kPinnedMapped = 2;    ///< kernels may use it; both flags serve cuMemHostRegister too

/// CU_MEMORYTYPE_...; 0: not known to the driver.
inline constexpr unsigned kMemoryHost = 1;
inline constexpr unsigned kMemoryDevice = 2;

/// CU_POINTER_ATTRIBUTE_...
enum class PointerAttribute : int {
  context = 1,
  memory_type = 2,
  device_pointer = 3,
  sync_memops = 6,
  buffer_id = 7,
  is_managed = 8,
  device = 9,
  ipc_capable = 10,
  range_start = 11,
  range_nbytes = 12,
  handle_types = 14,
  pool = 17,
  memory_block_id = 20,  ///< of the physical memory; drivers before 12 do not know it
};

// Streams and events.
inline constexpr unsigned kStreamNonBlocking = 1;  ///< no waits between this stream and the legacy default stream
inline constexpr int kHighPriority = -5;           ///< of a stream; drivers take the nearest priority that they have
inline constexpr unsigned kEventWithoutTiming = 2;
enum class CaptureMode : int { global = 0, thread_local_ = 1, relaxed = 2 };
inline constexpr int kCapturingNot = 0;
inline constexpr int kCapturing = 1;

// User objects of graphs.
inline constexpr unsigned kDestructorUnwatched = 1;  ///< CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, which the driver asks for
inline constexpr unsigned kGraphTakesReference = 1;  ///< CU_GRAPH_USER_OBJECT_MOVE

/// Conditions of a wait for a word.
inline constexpr unsigned kWordReaches = 0;  ///< signed difference >= 0
inline constexpr unsigned kWordEquals = 1;
inline constexpr unsigned kWordHasBits = 2;
inline constexpr unsigned kWordsFlush = 1u << 30;
inline constexpr unsigned kWordWriteNoBarrier = 1;

/// CUstreamBatchMemOpType
enum class WordOp : int { wait_32 = 1, write_32 = 2, flush_remote_writes = 3, wait_64 = 4, write_64 = 5, barrier = 6 };

/// One operation of cuStreamBatchMemOp.
struct StreamWordOp {
  WordOp op;
  unsigned scope = 0;  ///< of `barrier`: 0 system, 1 this GPU
  Address address = 0;
  uint64_t value = 0;  ///< its low half for 32-bit words
  unsigned flags = 0;  ///< of waits and writes
  Address alias = 0;   ///< the driver's
  uint64_t unused = 0;
};

// Batches of copies.
inline constexpr int kSourceInStreamOrder = 1;
inline constexpr unsigned kPreferOverlapWithCompute = 1;
struct CopyAttributes {
  int source_order = kSourceInStreamOrder;
  Location source_hint{0, 0};
  Location destination_hint{0, 0};
  unsigned flags = 0;
};

}  // namespace railshmem::cuda
