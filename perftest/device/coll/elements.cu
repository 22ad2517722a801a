// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/coll/elements.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "perftest/device/context.cuh"

namespace railshmem::perf::gpu::coll {
namespace {

constexpr unsigned kGrid = 1024, kBlock = 256;

/// The bits of a small integer in an element of the type.
__device__ inline uint64_t encode(Dtype dtype, int value) {
  const auto real = static_cast<float>(value);
  switch (dtype) {
    case Dtype::half:
      return __half_as_ushort(__float2half_rn(real));
    case Dtype::bfloat16:
      return __bfloat16_as_ushort(__float2bfloat16_rn(real));
    case Dtype::float32:
      return __float_as_uint(real);
    case Dtype::float64:
      return static_cast<uint64_t>(__double_as_longlong(real));
    case Dtype::float8_e4m3:
      return __nv_cvt_float_to_fp8(real, __NV_SATFINITE, __NV_E4M3);
    case Dtype::float8_e5m2:
      return __nv_cvt_float_to_fp8(real, __NV_SATFINITE, __NV_E5M2);
    default:
      return static_cast<uint64_t>(value);
  }
}

template <class Word>
__global__ void fill_kernel(Word* at, Elements elements, Values values, int pe) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements.n; i += step)
    at[i] = static_cast<Word>(encode(elements.dtype, value_at(values, pe, elements.first + i)));
}

struct Found {
  unsigned long long count;
  unsigned long long first;
};

template <class Word>
__global__ void check_kernel(const Word* at, Elements elements, Values values, int low, int high, Found* found) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements.n; i += step) {
    const int sum = sum_at(values, low, high, elements.first + i);
    if (at[i] == static_cast<Word>(encode(elements.dtype, sum))) continue;
    atomicAdd(&found->count, 1ull);
    atomicMin(&found->first, i);
  }
}

template <class Word>
__global__ void describe_kernel(const Word* at, Dtype dtype, int expected, uint64_t* pair) {
  pair[0] = *at;
  pair[1] = static_cast<Word>(encode(dtype, expected));
}

/// Calls f(pointer to a word of the element's size).
template <class F>
auto with_words(const Elements& elements, F&& f) {
  void* const at = const_cast<void*>(elements.at);
  switch (facts_of(elements.dtype).nbytes) {
    case 1:
      return f(static_cast<uint8_t*>(at));
    case 2:
      return f(static_cast<uint16_t*>(at));
    case 4:
      return f(static_cast<uint32_t*>(at));
    default:
      return f(static_cast<uint64_t*>(at));
  }
}

template <class Word>
Mismatch describe(const Word* at, const Elements& elements, const Found& found, int expected, cudaStream_t stream) {
  const Gpu<uint64_t> pair = allocate_gpu<uint64_t>(2);
  uint64_t bits[2] = {};
  describe_kernel<<<1, 1, 0, stream>>>(at + found.first, elements.dtype, expected, pair.get());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaMemcpy(bits, pair.get(), sizeof bits, cudaMemcpyDefault));
  return {found.count, found.first, bits[0], bits[1]};
}

}  // namespace

void fill(const Elements& elements, const Values& values, int pe, cudaStream_t stream) {
  with_words(elements, [&](auto* words) { fill_kernel<<<kGrid, kBlock, 0, stream>>>(words, elements, values, pe); });
  CUDA_CHECK(cudaGetLastError());
}

std::optional<Mismatch> check(const Elements& elements, const Values& values, int low, int high, cudaStream_t stream) {
  const Found nothing{0, ~0ull};
  const Gpu<Found> record = allocate_gpu<Found>(1);
  CUDA_CHECK(cudaMemcpy(record.get(), &nothing, sizeof nothing, cudaMemcpyDefault));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // `stream` does not wait for the copy's
  return with_words(elements, [&](auto* words) -> std::optional<Mismatch> {
    check_kernel<<<kGrid, kBlock, 0, stream>>>(words, elements, values, low, high, record.get());
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamSynchronize(stream));
    Found found{};
    CUDA_CHECK(cudaMemcpy(&found, record.get(), sizeof found, cudaMemcpyDefault));
    if (found.count == 0) return std::nullopt;
    const int expected = sum_at(values, low, high, elements.first + found.first);
    return describe(words, elements, found, expected, stream);
  });
}

}  // namespace railshmem::perf::gpu::coll
