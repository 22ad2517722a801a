// SPDX-License-Identifier: BSD-3-Clause
// Element types of the collectives that shmem_gpu_perf measures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace railshmem::perf::gpu::coll {

enum class Dtype : uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  half,
  bfloat16,
  float32,
  float64,
  float8_e4m3,
  float8_e5m2
};

struct DtypeFacts {
  Dtype dtype;
  const char* name;  ///< of --dtype
  size_t nbytes;     ///< of one element
  int exact;         ///< integers from 0 to this one are exact; sums of values stay below it
};

/// In the order of the enumeration.
inline constexpr std::array<DtypeFacts, 12> kDtypes{{
    {Dtype::int8, "int8", 1, 127},
    {Dtype::uint8, "uint8", 1, 127},
    {Dtype::int32, "int32", 4, 1 << 15},
    {Dtype::uint32, "uint32", 4, 1 << 15},
    {Dtype::int64, "int64", 8, 1 << 15},
    {Dtype::uint64, "uint64", 8, 1 << 15},
    {Dtype::half, "half", 2, 2048},
    {Dtype::bfloat16, "bfloat16", 2, 256},
    {Dtype::float32, "float", 4, 1 << 15},
    {Dtype::float64, "double", 8, 1 << 15},
    {Dtype::float8_e4m3, "float8_e4m3", 1, 16},
    {Dtype::float8_e5m2, "float8_e5m2", 1, 8},
}};

constexpr const DtypeFacts& facts_of(Dtype dtype) {
  return kDtypes[static_cast<size_t>(dtype)];
}

}  // namespace railshmem::perf::gpu::coll
