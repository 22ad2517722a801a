// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/coll/product.h"

#include "perftest/device/context.cuh"

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <dlfcn.h>

namespace railshmem::perf::gpu::coll {
namespace {

// 12.1 * 10^12 operations: about 17 ms at the 700 TFLOPS or so that an H200 holds.
constexpr int kM = 16384, kN = 16384, kK = 22528;

/// cublasGemmEx of C; C++ has an overload beside it.
using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

Library load() {
  for (const char* const name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return Library(library);
  return nullptr;
}

/// Random values in (-1, 1): a GPU multiplies zeros with less power, and so faster.
__global__ void randomize(__nv_bfloat16* at, uint64_t n, uint32_t seed) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    uint32_t mixed = (static_cast<uint32_t>(i) + seed) * 0x9E3779B1u;
    mixed = (mixed ^ (mixed >> 15)) * 0x2C1B3C6Du;
    mixed ^= mixed >> 16;
    at[i] = __float2bfloat16_rn(static_cast<float>(mixed) * 0x1p-31f - 1.0f);
  }
}

Gpu<__nv_bfloat16> random_matrix(uint64_t rows, uint64_t columns, uint32_t seed) {
  Gpu<__nv_bfloat16> matrix = allocate_gpu<__nv_bfloat16>(rows * columns);
  randomize<<<1024, 256>>>(matrix.get(), rows * columns, seed);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  return matrix;
}

}  // namespace

struct Product::Parts {
  Library library;
  decltype(&cublasDestroy) destroy = nullptr;
  decltype(&cublasSetStream) set_stream = nullptr;
  Gemm gemm = nullptr;
  cublasHandle_t handle = nullptr;
  Gpu<__nv_bfloat16> a, b, c;
};

Product::Product(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Product::~Product() {
  if (!giving_up()) parts_->destroy(parts_->handle);
}

std::unique_ptr<Product> Product::make(std::string& why) {
  auto parts = std::make_unique<Parts>();
  parts->library = load();
  if (!parts->library) {
    why = "no libcublas.so.13 or .12; put its folder into LD_LIBRARY_PATH";
    return nullptr;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(parts->library.get(), name));
    if (function == nullptr) why = std::string("cuBLAS lacks ") + name;
  };
  decltype(&cublasCreate) create = nullptr;
  find(create, "cublasCreate_v2");
  find(parts->destroy, "cublasDestroy_v2");
  find(parts->set_stream, "cublasSetStream_v2");
  find(parts->gemm, "cublasGemmEx");
  if (!why.empty()) return nullptr;
  if (const cublasStatus_t result = create(&parts->handle); result != CUBLAS_STATUS_SUCCESS) {
    why = "cublasCreate: status " + std::to_string(result);
    return nullptr;
  }
  parts->a = random_matrix(kM, kK, 1);
  parts->b = random_matrix(kK, kN, 2);
  parts->c = allocate_gpu<__nv_bfloat16>(uint64_t{kM} * kN);
  return std::unique_ptr<Product>(new Product(std::move(parts)));
}

void Product::enqueue(cudaStream_t stream) {
  const Parts& p = *parts_;
  const float one = 1, zero = 0;
  cublasStatus_t result = p.set_stream(p.handle, stream);
  if (result == CUBLAS_STATUS_SUCCESS)
    result = p.gemm(p.handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &one, p.a.get(), CUDA_R_16BF, kM, p.b.get(),
                    CUDA_R_16BF, kK, &zero, p.c.get(), CUDA_R_16BF, kM, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  if (result != CUBLAS_STATUS_SUCCESS) throw std::runtime_error("cublasGemmEx: status " + std::to_string(result));
}

std::string Product::shape() {
  return std::to_string(kM) + " x " + std::to_string(kN) + " x " + std::to_string(kK);
}

}  // namespace railshmem::perf::gpu::coll

#else

namespace railshmem::perf::gpu::coll {

struct Product::Parts {};
Product::~Product() = default;
std::unique_ptr<Product> Product::make(std::string& why) {
  why = "compiled without cublas_v2.h";
  return nullptr;
}
void Product::enqueue(cudaStream_t) {}
std::string Product::shape() {
  return "";
}

}  // namespace railshmem::perf::gpu::coll

#endif
