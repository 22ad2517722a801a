// SPDX-License-Identifier: BSD-3-Clause
// cuBLASLt, opened at run time without its headers. tests/unit/overlap compares types and numbers with cublasLt.h.
#pragma once

#include <shmemx.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace railshmem::overlap::lt {

using Status = int;
using Handle = struct LtHandle*;
using Operation = struct LtOperation*;    ///< cublasLtMatmulDesc_t
using Layout = struct LtLayout*;          ///< cublasLtMatrixLayout_t
using Preference = struct LtPreference*;  ///< cublasLtMatmulPreference_t

enum class DataType : int { float32 = 0, half = 2, bfloat16 = 14, float8_e4m3 = 28, float8_e5m2 = 29 };
enum class Compute : int { float32 = 68, tf32 = 77 };
enum class OperationField : int {
  transposed_a = 3,
  transposed_b = 4,
  epilogue = 7,
  bias = 8,
  scale_a = 17,
  scale_b = 18
};
enum class Epilogue : uint32_t { none = 1, relu = 2, bias = 4, relu_bias = 6, gelu = 32, gelu_bias = 36 };
enum class PreferenceField : int { workspace = 1, alignment_a = 5, alignment_b = 6, alignment_c = 7, alignment_d = 8 };

struct Algorithm {
  std::array<uint64_t, 8> data;
};
/// cublasLtMatmulHeuristicResult_t
struct Found {
  Algorithm algorithm;
  size_t workspace;
  Status state;
  float waves;
  std::array<int, 4> reserved;
};

struct Calls {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  size_t (*version)();
  const char* (*status_name)(Status);
  Status (*operation_create)(Operation*, Compute, DataType scale);
  Status (*operation_destroy)(Operation);
  Status (*operation_set)(Operation, OperationField, const void*, size_t nbytes);
  Status (*layout_create)(Layout*, DataType, uint64_t rows, uint64_t columns, int64_t leading);
  Status (*layout_destroy)(Layout);
  Status (*preference_create)(Preference*);
  Status (*preference_destroy)(Preference);
  Status (*preference_set)(Preference, PreferenceField, const void*, size_t nbytes);
  Status (*find)(Handle, Operation, Layout a, Layout b, Layout c, Layout d, Preference, int most, Found*, int* count);
  Status (*check)(Handle, Operation, Layout a, Layout b, Layout c, Layout d, const Algorithm*, Found*);
  Status (*multiply)(Handle, Operation, const void* alpha, const void* a, Layout, const void* b, Layout,
                     const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace,
                     size_t nbytes, shmemx_stream_t);
};

/// libcublasLt.so.13 or .12. Throws Error if none exists, and says what to do.
const Calls& library();
/// Throws Error with the status's name.
void must(Status status, const char* call);

}  // namespace railshmem::overlap::lt
