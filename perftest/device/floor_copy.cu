// SPDX-License-Identifier: BSD-3-Clause
// floor_copy_kernel, floor_read_kernel, floor_copy_both, floor_copy_bulk, floor_copy_engine: what the link gives
// without a library. The kernels copy in 16-byte vectors, several loads in flight, or by bulk copies; between messages
// they take the steps of put_bw and get_bw.
#include <tuple>

#include "perftest/device/copy_vectors.cuh"
#include "perftest/device/floor_bulk.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

__global__ void __launch_bounds__(kMostThreads) copy_kernel(Copy copy, uint32_t messages) {
  const uint64_t deadline = now_ns() + copy.limit_ns;
  const Slice part = slice_of(copy.nbytes, blockIdx.x, gridDim.x);
  auto* const to = reinterpret_cast<uint4*>(copy.dest + part.offset);
  const auto* const from = reinterpret_cast<const uint4*>(copy.source + part.offset);
  bool well = true;
#pragma unroll 1
  for (uint32_t i = 0; well && i < messages; ++i) {
    copy_vectors(to, from, part.nbytes / sizeof(uint4), threadIdx.x, blockDim.x);
    well = meet_grid(copy.arrived, i, deadline);
  }
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (!well) *copy.failed = 1;
}

/// One half of the bytes is written to the peer by the warps of an even number, the other half is read from the peer by
/// the others.
__global__ void __launch_bounds__(kMostThreads) both_kernel(Copy copy, uint32_t messages) {
  const uint64_t deadline = now_ns() + copy.limit_ns;
  const Slice part = slice_of(copy.nbytes, blockIdx.x, gridDim.x);
  auto* const there = reinterpret_cast<uint4*>(copy.dest + part.offset);
  auto* const here = reinterpret_cast<uint4*>(const_cast<char*>(copy.source) + part.offset);
  const uint64_t all = part.nbytes / sizeof(uint4), written = all / 2;
  const uint32_t warp = threadIdx.x / kWarpThreads;
  const uint32_t at = warp / 2 * kWarpThreads + threadIdx.x % kWarpThreads;
  bool well = true;
#pragma unroll 1
  for (uint32_t i = 0; well && i < messages; ++i) {
    if (warp % 2 == 0) {
      copy_vectors(there, here, written, at, blockDim.x / 2);
    } else {
      copy_vectors(here + written, there + written, all - written, at, blockDim.x / 2);
    }
    well = meet_grid(copy.arrived, i, deadline);
  }
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (!well) *copy.failed = 1;
}

/// Thread 0 copies; the others are there to meet, as in the other kernels.
__global__ void __launch_bounds__(kMostThreads) bulk_kernel(Copy copy, uint32_t messages) {
  extern __shared__ __align__(128) char stages[];
  __shared__ uint64_t arrived[kBulkStages];
  const uint64_t deadline = now_ns() + copy.limit_ns;
  const Slice part = slice_of(copy.nbytes, blockIdx.x, gridDim.x);
  BulkCopier copier(stages, arrived);
  bool well = true;
#pragma unroll 1
  for (uint32_t i = 0; well && i < messages; ++i) {
    if (threadIdx.x == 0) well = copier.copy(copy.dest + part.offset, copy.source + part.offset, part.nbytes, deadline);
    well = __syncthreads_and(well) != 0 && meet_grid(copy.arrived, i, deadline);
  }
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (!well) *copy.failed = 1;
}

void add_bandwidth(Context& context, uint64_t bytes, long iters, unsigned grid, unsigned block,
                   const std::vector<double>& seconds) {
  add_throughput(context, context.row("bandwidth", "GB/s", bytes, grid, block), iters, seconds,
                 static_cast<double>(bytes) * static_cast<double>(iters), 1e9);
}

enum class Way : uint8_t { to_peer, from_peer, both, to_peer_bulk };

void launch_copy(Context& context, Way way, unsigned grid, unsigned block, const Copy& copy, uint32_t messages) {
  if (way == Way::both) return context.launch(both_kernel, grid, block, copy, messages);
  if (way != Way::to_peer_bulk) return context.launch(copy_kernel, grid, block, copy, messages);
  CUDA_CHECK(cudaFuncSetAttribute(bulk_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBulkShared));
  bulk_kernel<<<grid, block, kBulkShared, context.stream()>>>(copy, messages);
  CUDA_CHECK(cudaGetLastError());
}

void copy_bench(Context& context, Way way, Copy copy, unsigned grid) {
  const unsigned block = context.threads(way == Way::to_peer_bulk ? kWarpThreads : kMostThreads);
  for (const uint64_t size : context.sizes) {
    copy.nbytes = (size + 15) / 16 * 16;
    const long iters = messages_of(context.options, copy.nbytes);
    const auto before = [&] { CUDA_CHECK(cudaMemsetAsync(copy.arrived, 0, sizeof(uint32_t), context.stream())); };
    const auto launch = [&](long messages) {
      launch_copy(context, way, grid, block, copy, static_cast<uint32_t>(messages));
    };
    const std::vector<double> seconds = event_timed(context, iters, before, launch);
    uint32_t failed = 0;
    CUDA_CHECK(cudaMemcpy(&failed, copy.failed, sizeof failed, cudaMemcpyDefault));
    if (failed != 0) throw std::runtime_error(std::string(context.bench->name) + ": --timeout passed in the kernel");
    add_bandwidth(context, copy.nbytes, iters, grid, block, seconds);
  }
}

/// Runs with --ctas blocks; without --ctas, with 32 and with one for each of an H200's 132 multiprocessors.
void run_kernel(Context& context, Way way) {
  const Symmetric mine(context.largest() + 16), theirs(context.largest() + 16);
  const Gpu<uint32_t> words = allocate_gpu<uint32_t>(2);
  char* const there = context.acts() ? static_cast<char*>(context.need_at_peer(theirs.as<>())) : nullptr;
  Copy copy{there, mine.as<>(), 0, words.get(), context.limit_ns(), words.get() + 1};
  if (way == Way::from_peer) std::tie(copy.dest, copy.source) = std::pair<char*, const char*>(mine.as<>(), there);
  const std::vector<unsigned> grids =
      context.options.ctas ? std::vector<unsigned>{*context.options.ctas} : std::vector<unsigned>{32, 132};
  for (const unsigned grid : grids) copy_bench(context, way, copy, grid);
}

void run_engine(Context& context) {
  const Symmetric mine(context.largest()), theirs(context.largest());
  void* const there = context.acts() ? context.need_at_peer(theirs.as<>()) : nullptr;
  for (const uint64_t bytes : context.sizes) {
    const long iters = messages_of(context.options, bytes);
    const auto launch = [&](long messages) {
      for (long i = 0; i < messages; ++i)
        CUDA_CHECK(cudaMemcpyAsync(there, mine.as<>(), bytes, cudaMemcpyDefault, context.stream()));
    };
    add_bandwidth(context, bytes, iters, 0, 0,
                  event_timed(
                      context, iters, [] {}, launch));
  }
}

constexpr Range kSizes{uint64_t{1} << 10, uint64_t{1} << 28};
const Register to_peer({"floor_copy_kernel",
                        "raw kernel that writes the peer's memory",
                        Part::one_sided,
                        kSizes,
                        {Scope::block},
                        false,
                        [](Context& context) { run_kernel(context, Way::to_peer); }});
const Register from_peer({"floor_read_kernel",
                          "raw kernel that reads the peer's memory",
                          Part::one_sided,
                          kSizes,
                          {Scope::block},
                          false,
                          [](Context& context) { run_kernel(context, Way::from_peer); }});
const Register both({"floor_copy_both",
                     "raw kernel that writes one half to the peer's memory and reads the other half from there",
                     Part::one_sided,
                     kSizes,
                     {Scope::block},
                     false,
                     [](Context& context) { run_kernel(context, Way::both); }});
const Register to_peer_bulk({"floor_copy_bulk",
                             "bulk asynchronous copies to the peer's memory",
                             Part::one_sided,
                             kSizes,
                             {Scope::block},
                             false,
                             [](Context& context) { run_kernel(context, Way::to_peer_bulk); }});
const Register engine({"floor_copy_engine",
                       "cudaMemcpyAsync to the peer's memory",
                       Part::one_sided,
                       kSizes,
                       {Scope::block},
                       false,
                       run_engine});

}  // namespace
}  // namespace railshmem::perf::gpu
