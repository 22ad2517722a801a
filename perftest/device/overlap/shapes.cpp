// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/overlap/shapes.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace railshmem::perf::gpu::overlap {
namespace {

/// A transformer's layer as published: Llama 2 of 7B, Llama 3.1 of 70B and 405B. Heads are 128 wide.
struct Model {
  const char* name;
  size_t hidden, inner;  ///< inner: of the gated MLP
  size_t key_heads;      ///< of keys, and as many of values
};
constexpr std::array kModels{Model{"llama-7b", 4096, 11008, 32}, Model{"llama-70b", 8192, 28672, 8},
                             Model{"llama-405b", 16384, 53248, 8}};
constexpr size_t kHead = 128;

constexpr const char* kSmall = "small";
constexpr std::array<size_t, 4> kSmallRows{16, 64, 256, 1024};
constexpr size_t kSmallWide = 8192, kSmallNarrow = 4096;

std::string text_of(size_t m, size_t k, size_t n) {
  return std::to_string(m) + 'x' + std::to_string(k) + 'x' + std::to_string(n);
}
Shape named(const std::string& name, size_t m, size_t k, size_t n) {
  return {m, k, n, name + ':' + text_of(m, k, n)};
}

/// Queries, keys and values, and both inputs of the gate, are one product each.
std::vector<Shape> layer_of(const Model& model, Way way, size_t npes, size_t tokens) {
  if (model.key_heads % npes != 0 || model.inner % npes != 0)
    throw std::runtime_error(std::string(model.name) + ": " + std::to_string(npes) + " PEs do not divide its " +
                             std::to_string(model.key_heads) + " heads of keys and " + std::to_string(model.inner) +
                             " inner columns");
  const std::string name = model.name;
  if (way == Way::gather)
    return {named(name + ".qkv", tokens, model.hidden, (model.hidden + 2 * model.key_heads * kHead) / npes),
            named(name + ".gate-up", tokens, model.hidden, 2 * model.inner / npes)};
  return {named(name + ".o", tokens, model.hidden / npes, model.hidden),
          named(name + ".down", tokens, model.inner / npes, model.hidden)};
}

std::vector<Shape> small(Way way) {
  std::vector<Shape> shapes;
  for (const size_t rows : kSmallRows)
    shapes.push_back(way == Way::gather ? named(kSmall, rows, kSmallWide, kSmallNarrow)
                                        : named(kSmall, rows, kSmallNarrow, kSmallWide));
  return shapes;
}

Shape given(const std::string& word) {
  Shape shape{0, 0, 0, word};
  char x = 0;
  std::istringstream(word) >> shape.m >> x >> shape.k >> x >> shape.n;
  return shape;
}

}  // namespace

std::vector<std::string> shape_lists() {
  std::vector<std::string> names{kSmall};
  for (const Model& model : kModels) names.emplace_back(model.name);
  return names;
}

std::vector<Shape> shapes_of(Way way, const std::vector<std::string>& words, int npes, size_t tokens) {
  const auto pes = static_cast<size_t>(npes);
  std::vector<Shape> all;
  for (const std::string& word : words) {
    const auto* const model =
        std::find_if(kModels.begin(), kModels.end(), [&](const Model& one) { return word == one.name; });
    std::vector<Shape> found{};
    if (model != kModels.end()) {
      found = layer_of(*model, way, pes, tokens);
    } else if (word == kSmall) {
      found = small(way);
    } else {
      found = {given(word)};
    }
    for (Shape& shape : found) {
      if (shape.m % pes != 0)
        throw std::runtime_error(shape.name + ": " + std::to_string(npes) + " PEs do not divide its " +
                                 std::to_string(shape.m) + " rows");
      all.push_back(std::move(shape));
    }
  }
  return all;
}

}  // namespace railshmem::perf::gpu::overlap
