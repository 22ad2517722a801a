// SPDX-License-Identifier: BSD-3-Clause
// The shapes that ag_gemm and gemm_rs measure: given ones, and lists by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace railshmem::perf::gpu::overlap {

enum class Way : unsigned char { gather, scatter };  ///< all-gather + product, product + reduce-scatter

struct Shape {
  size_t m, k, n;    ///< m: rows of all PEs together
  std::string name;  ///< "MxKxN", behind the name of a list and of the layer's part: "llama-70b.qkv:8192x8192x5120"
};

/// Names of lists, for --shapes.
std::vector<std::string> shape_lists();

/// What the words of --shapes stand for. A list gives the shapes of this way only. Layers of models are for `npes` PEs
/// as tensor parallelism, and `tokens` rows. Throws std::runtime_error where PEs do not divide a layer, or the rows.
std::vector<Shape> shapes_of(Way way, const std::vector<std::string>& words, int npes, size_t tokens);

}  // namespace railshmem::perf::gpu::overlap
