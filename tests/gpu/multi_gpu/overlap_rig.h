// SPDX-License-Identifier: BSD-3-Clause
// Matrices for overlapped products, and what the results must be.
#pragma once

#include <shmem.h>
#include <shmemx_overlap.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/small_floats.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace railshmem::multi {

inline size_t element_of(int type) {
  if (type == SHMEMX_DATATYPE_FLOAT8_E4M3 || type == SHMEMX_DATATYPE_FLOAT8_E5M2) return sizeof(Float8E4M3);
  return type == SHMEMX_DATATYPE_FLOAT ? sizeof(float) : sizeof(Half);
}
inline double load(const void* from, size_t i, int type) {
  if (type == SHMEMX_DATATYPE_FLOAT) return static_cast<const float*>(from)[i];
  if (type == SHMEMX_DATATYPE_HALF) return static_cast<const Half*>(from)[i].value();
  if (type == SHMEMX_DATATYPE_FLOAT8_E4M3) return static_cast<const Float8E4M3*>(from)[i].value();
  if (type == SHMEMX_DATATYPE_FLOAT8_E5M2) return static_cast<const Float8E5M2*>(from)[i].value();
  return static_cast<const Bfloat16*>(from)[i].value();
}
inline void store(void* to, size_t i, int type, double value) {
  const auto rounded = static_cast<float>(value);
  if (type == SHMEMX_DATATYPE_FLOAT) {
    static_cast<float*>(to)[i] = rounded;
  } else if (type == SHMEMX_DATATYPE_HALF) {
    static_cast<Half*>(to)[i] = Half(rounded);
  } else if (type == SHMEMX_DATATYPE_FLOAT8_E4M3) {
    static_cast<Float8E4M3*>(to)[i] = Float8E4M3(rounded);
  } else if (type == SHMEMX_DATATYPE_FLOAT8_E5M2) {
    static_cast<Float8E5M2*>(to)[i] = Float8E5M2(rounded);
  } else {
    static_cast<Bfloat16*>(to)[i] = Bfloat16(rounded);
  }
}

/// A matrix on the host.
struct Matrix {
  Matrix(size_t rows, size_t width, int kind) : columns(width), type(kind), bytes(rows * width * element_of(kind)) {}
  double at(size_t row, size_t column) const { return load(bytes.data(), row * columns + column, type); }
  void set(size_t row, size_t column, double value) { store(bytes.data(), row * columns + column, type, value); }
  size_t row_nbytes() const { return columns * element_of(type); }
  std::byte* row(size_t i) { return bytes.data() + i * row_nbytes(); }

  size_t columns;
  int type;
  std::vector<std::byte> bytes;
};

/// What nobody computes by chance: whole numbers from -2 to 2, whose products and sums are exact in every type here, or
/// fractions, which are not.
enum class Values : uint8_t { whole, fractions };
inline Matrix made(size_t rows, size_t columns, int type, uint32_t seed, Values values) {
  Matrix matrix(rows, columns, type);
  for (size_t i = 0; i < rows * columns; ++i) {
    uint32_t mixed = (static_cast<uint32_t>(i) + seed * 7919u) * 0x9E3779B1u;
    mixed = (mixed ^ (mixed >> 15)) * 0x2C1B3C6Du;
    mixed ^= mixed >> 16;
    store(matrix.bytes.data(), i, type,
          values == Values::whole ? static_cast<int>(mixed % 5) - 2 : mixed * 0x1p-31 - 1.0);
  }
  return matrix;
}

inline double activated(int activation, double value) {
  if (activation == SHMEMX_ACTIVATION_RELU) return std::max(value, 0.0);
  if (activation == SHMEMX_ACTIVATION_NONE) return value;
  return 0.5 * value * (1 + std::tanh(0.7978845608 * (value + 0.044715 * value * value * value)));
}

/// Symmetric memory of the GPU's heap. Collective.
class Symmetric {
 public:
  explicit Symmetric(size_t nbytes) : at_(static_cast<std::byte*>(shmem_align(256, nbytes == 0 ? 1 : nbytes))) {
    if (at_ != nullptr) return;
    std::printf("FAILED: PE %d: no %zu bytes in the heap\n", shmem_my_pe(), nbytes);
    shmem_global_exit(2);
  }
  ~Symmetric() { shmem_free(at_); }
  Symmetric(const Symmetric&) = delete;
  std::byte* at() const { return at_; }

 private:
  std::byte* const at_;
};

/// A handle and its workspace, which begins where shmem_malloc might begin it. Collective over all PEs; the team's
/// members alone have a handle.
class Handle {
 public:
  Handle(shmem_team_t team, size_t partial_nbytes)
      : memory_(kSkipped + shmemx_overlap_workspace(team, partial_nbytes)) {
    const size_t nbytes = shmemx_overlap_workspace(team, partial_nbytes);
    if (shmemx_overlap_create(team, memory_.at() + kSkipped, nbytes, &handle_) != 0) shmem_global_exit(2);
  }
  ~Handle() {
    shmem_barrier_all();
    if (shmemx_overlap_destroy(handle_) != 0) shmem_global_exit(2);
  }
  Handle(const Handle&) = delete;
  shmemx_overlap_t get() const { return handle_; }

 private:
  static constexpr size_t kSkipped = 64;
  const Symmetric memory_;
  shmemx_overlap_t handle_ = nullptr;
};

/// A product on the CPU, as a function of the host in the stream: for drivers whose memory the CPU can use.
struct CpuProduct {
  const StreamDriver* driver;
  size_t n, k, ldc;
  int type, result_type;
  const void* b;
  int calls = 0;
  int refuse = -1;       ///< the number of the call that fails
  unsigned late_us = 0;  ///< a product may begin so much later

  struct Work {
    const CpuProduct* product;
    size_t nrows;
    const void* a;
    void* c;
    unsigned late_us;
  };
  std::minstd_rand random{};
  std::vector<std::pair<size_t, size_t>> order = {};  ///< first row and rows of each call, as the library makes them
  std::vector<Work*> given = {};                      ///< graphs need them until the end
  ~CpuProduct() {
    for (Work* const work : given) delete work;
  }

  static void run(void* argument) {
    const Work& work = *static_cast<Work*>(argument);
    const CpuProduct& p = *work.product;
    if (work.late_us != 0) std::this_thread::sleep_for(std::chrono::microseconds(work.late_us));
    for (size_t i = 0; i < work.nrows; ++i)
      for (size_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (size_t l = 0; l < p.k; ++l) sum += load(work.a, i * p.k + l, p.type) * load(p.b, l * p.n + j, p.type);
        store(work.c, i * p.ldc + j, p.result_type, sum);
      }
  }
  static int give(void* argument, size_t first_row, size_t nrows, const void* a, void* c, shmemx_stream_t stream) {
    auto& product = *static_cast<CpuProduct*>(argument);
    if (product.calls++ == product.refuse) return 7;
    product.order.emplace_back(first_row, nrows);
    product.given.push_back(new Work{
        &product, nrows, a, c, product.late_us == 0 ? 0 : static_cast<unsigned>(product.random() % product.late_us)});
    product.driver->call("cuLaunchHostFunc", stream, &CpuProduct::run, static_cast<void*>(product.given.back()));
    return 0;
  }
};

}  // namespace railshmem::multi
