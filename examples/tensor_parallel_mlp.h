// SPDX-License-Identifier: BSD-3-Clause
//
// The model of tensor_parallel_mlp.cu, its kernels, and the check against double precision on the host.
#ifndef EXAMPLES_TENSOR_PARALLEL_MLP_H
#define EXAMPLES_TENSOR_PARALLEL_MLP_H

#include "gpu_example.h"

#include <cmath>
#include <vector>

namespace tensor_parallel_mlp {

/// A bfloat16: the upper half of a float.
using Bf16 = uint16_t;
__host__ __device__ inline float value_of(Bf16 number) {
  const uint32_t bits = static_cast<uint32_t>(number) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
/// To the nearest; of two equally near ones, the even one.
__host__ __device__ inline Bf16 rounded(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return static_cast<Bf16>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
constexpr double kUnit = 0x1p-9;  // a rounding to Bf16 changes a value by at most this part of it

/// The layer: y[tokens x hidden] = gelu(x[tokens x hidden] * W1^T) * W2^T. W1 is inner x hidden, W2 hidden x inner.
struct Shape {
  size_t tokens, hidden, inner;
  int npes;
  __host__ __device__ size_t rows() const { return tokens / npes; }    ///< of x and y that a PE has
  __host__ __device__ size_t columns() const { return inner / npes; }  ///< of gelu(x * W1^T) that a PE computes
};

/// The elements of x and of both weights: one of three interleaved streams of noise each, so that none repeats another.
/// Variances are such that x, x * W1^T and y are about 1. `step`: each one has an input of its own.
__host__ __device__ inline Bf16 input(const Shape& shape, int step, size_t token, size_t i) {
  const size_t index = (step * shape.tokens + token) * shape.hidden + i;
  return rounded(1.7320508F * example::noise(static_cast<uint32_t>(3 * index)));
}
__host__ __device__ inline Bf16 first_weight(const Shape& shape, size_t inner, size_t i) {
  const size_t index = inner * shape.hidden + i;
  return rounded(sqrtf(3.0F / shape.hidden) * example::noise(static_cast<uint32_t>(3 * index + 1)));
}
__host__ __device__ inline Bf16 second_weight(const Shape& shape, size_t output, size_t inner) {
  const size_t index = output * shape.inner + inner;
  return rounded(sqrtf(3.0F / shape.inner) * example::noise(static_cast<uint32_t>(3 * index + 2)));
}

/// The tokens of a PE.
__global__ void make_input(Shape shape, int step, int pe, Bf16* x) {
  const size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < shape.rows() * shape.hidden)
    x[at] = input(shape, step, pe * shape.rows() + at / shape.hidden, at % shape.hidden);
}
/// The weights of a PE: columns() rows of W1, and as many columns of W2, which lie one behind the other in each row.
__global__ void make_weights(Shape shape, int pe, Bf16* first, Bf16* second) {
  const size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x, begin = pe * shape.columns();
  if (at >= shape.columns() * shape.hidden) return;
  first[at] = first_weight(shape, begin + at / shape.hidden, at % shape.hidden);
  second[at] = second_weight(shape, at / shape.columns(), begin + at % shape.columns());
}

/// The approximation by tanh, as SHMEMX_ACTIVATION_GELU has it.
__host__ __device__ inline float gelu(float value) {
  return 0.5F * value * (1.0F + tanhf(0.7978845608F * (value + 0.044715F * value * value * value)));
}

/// A row of y in double precision, and how far from it the roundings of a right computation may lead.
struct Exact {
  std::vector<double> y, squares, partial, partials;
  explicit Exact(size_t hidden) : y(hidden), squares(hidden), partial(hidden), partials(hidden) {}
  void add(size_t output, double product) {
    squares[output] += product * product;
    partial[output] += product;
  }
  /// A PE's share is complete: it is rounded before it is added up.
  void end_partial() {
    for (size_t output = 0; output < y.size(); ++output) {
      y[output] += partial[output];
      partials[output] += std::fabs(partial[output]);
      partial[output] = 0;
    }
  }
  /// The elements of gelu(x * W1^T) are rounded independently: their errors add up as the squares do.
  bool near(size_t output, double value) const {
    const double most = kUnit * (8 * std::sqrt(squares[output]) + partials[output] + std::fabs(y[output]));
    return std::fabs(value - y[output]) <= most;  // false for NaN
  }
};

/// How many elements of some results for a PE's rows are wrong. It looks at all rows of small layers; of others at as
/// many as take about a second, among them the first and the last.
inline long wrong_elements(const Shape& shape, int step, int pe, const std::vector<std::vector<Bf16>>& results) {
  constexpr size_t kWork = size_t{1} << 29;
  const size_t most = std::max<size_t>(2, kWork / (2 * shape.hidden * shape.inner));
  const size_t checked = std::min(shape.rows(), most);
  std::vector<size_t> rows;
  for (size_t i = 0; i < checked; ++i) rows.push_back(checked == 1 ? 0 : i * (shape.rows() - 1) / (checked - 1));
  std::vector<std::vector<float>> x(checked, std::vector<float>(shape.hidden));
  for (size_t r = 0; r < checked; ++r)
    for (size_t i = 0; i < shape.hidden; ++i) x[r][i] = value_of(input(shape, step, pe * shape.rows() + rows[r], i));
  std::vector<Exact> exact(checked, Exact(shape.hidden));
  std::vector<float> first(shape.hidden), second(shape.hidden);
  for (size_t inner = 0; inner < shape.inner; ++inner) {
    for (size_t i = 0; i < shape.hidden; ++i) {
      first[i] = value_of(first_weight(shape, inner, i));
      second[i] = value_of(second_weight(shape, i, inner));
    }
    for (size_t r = 0; r < checked; ++r) {
      double sum = 0;
      for (size_t i = 0; i < shape.hidden; ++i) sum += static_cast<double>(x[r][i]) * first[i];
      const double h = 0.5 * sum * (1 + std::tanh(0.7978845608 * (sum + 0.044715 * sum * sum * sum)));
      for (size_t i = 0; i < shape.hidden; ++i) exact[r].add(i, h * second[i]);
      if ((inner + 1) % shape.columns() == 0) exact[r].end_partial();
    }
  }
  long wrong = 0;
  for (const std::vector<Bf16>& y : results)
    for (size_t r = 0; r < checked; ++r)
      for (size_t i = 0; i < shape.hidden; ++i) wrong += !exact[r].near(i, value_of(y[rows[r] * shape.hidden + i]));
  return wrong;
}

}  // namespace tensor_parallel_mlp

#endif
