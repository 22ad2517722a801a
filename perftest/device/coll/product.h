// SPDX-License-Identifier: BSD-3-Clause
// A product of bf16 matrices by cuBLAS, which is loaded when it is needed, so that shmem_gpu_perf starts without it.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

namespace railshmem::perf::gpu::coll {

class Product {
 public:
  /// Null where cuBLAS cannot be used; `why` says what is missing.
  static std::unique_ptr<Product> make(std::string& why);
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  /// Puts one product into the stream: about 17 ms of an H200 alone.
  void enqueue(cudaStream_t stream);
  /// "16384 x 16384 x 22528"
  static std::string shape();

 private:
  struct Parts;
  explicit Product(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace railshmem::perf::gpu::coll
