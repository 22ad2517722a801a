// SPDX-License-Identifier: BSD-3-Clause
// Our idea of the driver's ABI against the toolkit's header, at compile time.
#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define RAILSHMEM_HAS_CUDA_HEADER 1
#endif

#include <cstddef>
#include <type_traits>

#include "src/cuda/driver.h"

#if defined(RAILSHMEM_HAS_CUDA_HEADER)
// The header shows this one, which drivers have since 11.3, to nobody but the driver itself.
extern "C" CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                                      const CUgraphNode**, size_t*);
// Drivers have it as ever; headers of CUDA 13 declare its successor only.
extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);
#endif

namespace railshmem::cuda {
namespace {

#if defined(RAILSHMEM_HAS_CUDA_HEADER) && CUDA_VERSION >= 13000  // the suffixes of driver_calls.inc are of 13.0

// A parameter is passed alike when its size and its kind of register agree. The objects that pointers point to are
// compared below.
template <class Ours, class Theirs>
inline constexpr bool kSameWord =
    sizeof(Ours) == sizeof(Theirs) && std::is_floating_point_v<Ours> ==
                                          std::is_floating_point_v<Theirs>&& std::is_class_v<Ours> ==
                                          std::is_class_v<Theirs>;

template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class... Ours, class... Theirs>
struct SameCall<Result (*)(Ours...), CUresult (*)(Theirs...)> : std::bool_constant<[] {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs)) {
    return (kSameWord<Ours, Theirs> && ...);
  } else {
    return false;
  }
}()> {};

#define CALL(member, group, symbol, since, ...) \
  static_assert(SameCall<decltype(Driver::member), decltype(&::symbol)>::value, #symbol);
#include "src/cuda/driver_calls.inc"
#undef CALL

// Each symbol is what the toolkit of today calls by the short name: the macro of cuda.h, where there is one.
constexpr bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}
#define TEXT_OF(name) TEXT_OF_EXPANDED(name)
#define TEXT_OF_EXPANDED(name) #name
#define CURRENT(name, symbol) static_assert(same_text(TEXT_OF(name), symbol), symbol)
CURRENT(cuDeviceGetUuid, "cuDeviceGetUuid_v2");
CURRENT(cuCtxPushCurrent, "cuCtxPushCurrent_v2");
CURRENT(cuCtxPopCurrent, "cuCtxPopCurrent_v2");
CURRENT(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
CURRENT(cuMemGetInfo, "cuMemGetInfo_v2");
CURRENT(cuMemGetAddressRange, "cuMemGetAddressRange_v2");
CURRENT(cuMemHostRegister, "cuMemHostRegister_v2");
CURRENT(cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2");
CURRENT(cuMemcpyBatchAsync, "cuMemcpyBatchAsync_v2");
CURRENT(cuStreamDestroy, "cuStreamDestroy_v2");
CURRENT(cuEventDestroy, "cuEventDestroy_v2");
CURRENT(cuStreamWaitValue32, "cuStreamWaitValue32_v2");
CURRENT(cuStreamWaitValue64, "cuStreamWaitValue64_v2");
CURRENT(cuStreamWriteValue32, "cuStreamWriteValue32_v2");
CURRENT(cuStreamWriteValue64, "cuStreamWriteValue64_v2");
CURRENT(cuStreamBatchMemOp, "cuStreamBatchMemOp_v2");
CURRENT(cuModuleGetGlobal, "cuModuleGetGlobal_v2");
CURRENT(cuMemcpyAsync, "cuMemcpyAsync");
CURRENT(cuMemsetD8Async, "cuMemsetD8Async");
CURRENT(cuEventRecord, "cuEventRecord");
CURRENT(cuLaunchKernel, "cuLaunchKernel");
CURRENT(cuMemFreeHost, "cuMemFreeHost");
CURRENT(cuIpcGetMemHandle, "cuIpcGetMemHandle");
CURRENT(cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2");
CURRENT(cuMemFree, "cuMemFree_v2");

#define SAME_VALUE(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs), #theirs)
SAME_VALUE(kSuccess, CUDA_SUCCESS);
SAME_VALUE(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME_VALUE(kDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME_VALUE(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME_VALUE(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME_VALUE(kMapFailed, CUDA_ERROR_MAP_FAILED);
SAME_VALUE(kAlreadyMapped, CUDA_ERROR_ALREADY_MAPPED);
SAME_VALUE(kPeerAccessUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
SAME_VALUE(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME_VALUE(kNotFound, CUDA_ERROR_NOT_FOUND);
SAME_VALUE(kNotReady, CUDA_ERROR_NOT_READY);
SAME_VALUE(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_VALUE(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME_VALUE(kAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
SAME_VALUE(kNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
SAME_VALUE(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME_VALUE(kNotPermitted, CUDA_ERROR_NOT_PERMITTED);
SAME_VALUE(kNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME_VALUE(kCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME_VALUE(kCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);

SAME_VALUE(Attribute::multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(Attribute::pci_bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
SAME_VALUE(Attribute::pci_device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
SAME_VALUE(Attribute::copy_engines, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
SAME_VALUE(Attribute::pci_domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
SAME_VALUE(Attribute::compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(Attribute::compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(Attribute::host_native_atomics, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
SAME_VALUE(Attribute::registered_memory_at_same_address, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
SAME_VALUE(Attribute::can_flush_remote_writes, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES);
SAME_VALUE(Attribute::virtual_memory_management, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
SAME_VALUE(Attribute::handle_type_posix_fd, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
SAME_VALUE(Attribute::rdma_with_virtual_memory, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
SAME_VALUE(Attribute::flush_writes_options, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
SAME_VALUE(Attribute::writes_ordering, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING);
SAME_VALUE(Attribute::words_of_64_bits, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
SAME_VALUE(Attribute::dma_buf, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
SAME_VALUE(Attribute::handle_type_fabric, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
SAME_VALUE(Attribute::host_numa_node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
SAME_VALUE(kFlushByHost, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST);
SAME_VALUE(kOrderedForOwner, CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER);
SAME_VALUE(kTargetCurrentContext, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX);
SAME_VALUE(kScopeOwner, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
SAME_VALUE(FunctionAttribute::required_cluster_width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
SAME_VALUE(PeerAttribute::access, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED);
SAME_VALUE(PeerAttribute::native_atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);

SAME_VALUE(kPinnedAllocation, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME_VALUE(kAtDevice, CU_MEM_LOCATION_TYPE_DEVICE);
SAME_VALUE(kHandlePosixFd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME_VALUE(kHandleFabric, CU_MEM_HANDLE_TYPE_FABRIC);
SAME_VALUE(kReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME_VALUE(kRecommendedGranularity, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
SAME_VALUE(kRangeHandleDmaBuf, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
SAME_VALUE(kPinnedPortable, CU_MEMHOSTALLOC_PORTABLE);
SAME_VALUE(kPinnedMapped, CU_MEMHOSTALLOC_DEVICEMAP);
SAME_VALUE(kPinnedPortable, CU_MEMHOSTREGISTER_PORTABLE);
SAME_VALUE(kPinnedMapped, CU_MEMHOSTREGISTER_DEVICEMAP);
SAME_VALUE(kMemoryHost, CU_MEMORYTYPE_HOST);
SAME_VALUE(kMemoryDevice, CU_MEMORYTYPE_DEVICE);
SAME_VALUE(PointerAttribute::context, CU_POINTER_ATTRIBUTE_CONTEXT);
SAME_VALUE(PointerAttribute::memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME_VALUE(PointerAttribute::device_pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
SAME_VALUE(PointerAttribute::sync_memops, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
SAME_VALUE(PointerAttribute::buffer_id, CU_POINTER_ATTRIBUTE_BUFFER_ID);
SAME_VALUE(PointerAttribute::is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME_VALUE(PointerAttribute::device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_VALUE(PointerAttribute::range_start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME_VALUE(PointerAttribute::range_nbytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME_VALUE(PointerAttribute::ipc_capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
SAME_VALUE(PointerAttribute::handle_types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES);
SAME_VALUE(PointerAttribute::pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
SAME_VALUE(PointerAttribute::memory_block_id, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID);
SAME_VALUE(kIpcEnablesPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME_VALUE(kDestructorUnwatched, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
SAME_VALUE(kGraphTakesReference, CU_GRAPH_USER_OBJECT_MOVE);
SAME_VALUE(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME_VALUE(kEventWithoutTiming, CU_EVENT_DISABLE_TIMING);
SAME_VALUE(CaptureMode::global, CU_STREAM_CAPTURE_MODE_GLOBAL);
SAME_VALUE(CaptureMode::thread_local_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME_VALUE(CaptureMode::relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_VALUE(kCapturingNot, CU_STREAM_CAPTURE_STATUS_NONE);
SAME_VALUE(kCapturing, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME_VALUE(kWordReaches, CU_STREAM_WAIT_VALUE_GEQ);
SAME_VALUE(kWordEquals, CU_STREAM_WAIT_VALUE_EQ);
SAME_VALUE(kWordHasBits, CU_STREAM_WAIT_VALUE_AND);
SAME_VALUE(kWordsFlush, CU_STREAM_WAIT_VALUE_FLUSH);
SAME_VALUE(kWordWriteNoBarrier, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
SAME_VALUE(WordOp::wait_32, CU_STREAM_MEM_OP_WAIT_VALUE_32);
SAME_VALUE(WordOp::write_32, CU_STREAM_MEM_OP_WRITE_VALUE_32);
SAME_VALUE(WordOp::flush_remote_writes, CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES);
SAME_VALUE(WordOp::wait_64, CU_STREAM_MEM_OP_WAIT_VALUE_64);
SAME_VALUE(WordOp::write_64, CU_STREAM_MEM_OP_WRITE_VALUE_64);
SAME_VALUE(WordOp::barrier, CU_STREAM_MEM_OP_BARRIER);
SAME_VALUE(kSourceInStreamOrder, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
SAME_VALUE(kPreferOverlapWithCompute, CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);

#define SAME_PLACE(Ours, ours, Theirs, theirs)                                                                    \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) && sizeof(Ours::ours) == sizeof(Theirs::theirs), \
                #Ours "::" #ours)
#define SAME_SIZE(Ours, Theirs) static_assert(sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs))

SAME_SIZE(Address, CUdeviceptr);
SAME_SIZE(MemoryHandle, CUmemGenericAllocationHandle);
SAME_SIZE(Device, CUdevice);
SAME_SIZE(Uuid, CUuuid);
SAME_SIZE(FabricHandle, CUmemFabricHandle);
SAME_SIZE(IpcHandle, CUipcMemHandle);
SAME_SIZE(PoolPointer, CUmemPoolPtrExportData);

SAME_SIZE(Location, CUmemLocation);
SAME_PLACE(Location, type, CUmemLocation, type);
SAME_PLACE(Location, id, CUmemLocation, id);

SAME_SIZE(AllocationProperties, CUmemAllocationProp);
SAME_PLACE(AllocationProperties, type, CUmemAllocationProp, type);
SAME_PLACE(AllocationProperties, handle_types, CUmemAllocationProp, requestedHandleTypes);
SAME_PLACE(AllocationProperties, location, CUmemAllocationProp, location);
SAME_PLACE(AllocationProperties, windows_only, CUmemAllocationProp, win32HandleMetaData);
static_assert(offsetof(AllocationProperties, rdma_capable) ==
              offsetof(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable));
static_assert(offsetof(AllocationProperties, compression) == offsetof(CUmemAllocationProp, allocFlags.compressionType));
static_assert(offsetof(AllocationProperties, usage) == offsetof(CUmemAllocationProp, allocFlags.usage));

SAME_SIZE(AccessDescription, CUmemAccessDesc);
SAME_PLACE(AccessDescription, location, CUmemAccessDesc, location);
SAME_PLACE(AccessDescription, flags, CUmemAccessDesc, flags);

using WaitValue = CUstreamBatchMemOpParams::CUstreamMemOpWaitValueParams_st;
using WriteValue = CUstreamBatchMemOpParams::CUstreamMemOpWriteValueParams_st;
using Barrier = CUstreamBatchMemOpParams::CUstreamMemOpMemoryBarrierParams_st;
SAME_SIZE(StreamWordOp, CUstreamBatchMemOpParams);
SAME_PLACE(StreamWordOp, op, WaitValue, operation);
SAME_PLACE(StreamWordOp, address, WaitValue, address);
SAME_PLACE(StreamWordOp, value, WaitValue, value64);
SAME_PLACE(StreamWordOp, flags, WaitValue, flags);
SAME_PLACE(StreamWordOp, alias, WaitValue, alias);
SAME_PLACE(StreamWordOp, address, WriteValue, address);
SAME_PLACE(StreamWordOp, value, WriteValue, value64);
SAME_PLACE(StreamWordOp, flags, WriteValue, flags);
SAME_PLACE(StreamWordOp, scope, Barrier, flags);

SAME_SIZE(CopyAttributes, CUmemcpyAttributes);
SAME_PLACE(CopyAttributes, source_order, CUmemcpyAttributes, srcAccessOrder);
SAME_PLACE(CopyAttributes, source_hint, CUmemcpyAttributes, srcLocHint);
SAME_PLACE(CopyAttributes, destination_hint, CUmemcpyAttributes, dstLocHint);
SAME_PLACE(CopyAttributes, flags, CUmemcpyAttributes, flags);

TEST(CudaAbi, AgreesWithTheHeaderOfTheToolkit) {
  // The static_asserts above are the test; this line in the log says that the header was there.
  std::printf("compared with cuda.h of CUDA %s\n", version_text(CUDA_VERSION).c_str());
}

#else

TEST(CudaAbi, AgreesWithTheHeaderOfTheToolkit) {
  GTEST_SKIP() << "this build had no cuda.h of CUDA 13 or newer to compare with";
}

#endif

}  // namespace
}  // namespace railshmem::cuda
