// SPDX-License-Identifier: BSD-3-Clause
// What names and words of --shapes stand for.
#include <gtest/gtest.h>

#include <stdexcept>

#include "perftest/device/overlap/shapes.h"

namespace railshmem::perf::gpu::overlap {
namespace {

std::vector<std::string> names_of(Way way, const std::vector<std::string>& words, int npes, size_t tokens = 8192) {
  std::vector<std::string> names;
  for (const Shape& shape : shapes_of(way, words, npes, tokens)) names.push_back(shape.name);
  return names;
}

TEST(PerftestOverlapShapes, AGivenShapeIsItself) {
  const std::vector<Shape> shapes = shapes_of(Way::scatter, {"16x32x64"}, 2, 8192);
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes[0].m, 16u);
  EXPECT_EQ(shapes[0].k, 32u);
  EXPECT_EQ(shapes[0].n, 64u);
  EXPECT_EQ(shapes[0].name, "16x32x64");
}

TEST(PerftestOverlapShapes, ALayerIsCutByThePes) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(Way::gather, {"llama-7b"}, 2),
            (Names{"llama-7b.qkv:8192x4096x6144", "llama-7b.gate-up:8192x4096x11008"}));
  EXPECT_EQ(names_of(Way::scatter, {"llama-7b"}, 2),
            (Names{"llama-7b.o:8192x2048x4096", "llama-7b.down:8192x5504x4096"}));
  EXPECT_EQ(names_of(Way::gather, {"llama-70b"}, 4),
            (Names{"llama-70b.qkv:8192x8192x2560", "llama-70b.gate-up:8192x8192x14336"}))
      << "64 heads of queries, 8 of keys and of values";
  EXPECT_EQ(names_of(Way::scatter, {"llama-70b"}, 4),
            (Names{"llama-70b.o:8192x2048x8192", "llama-70b.down:8192x7168x8192"}));
  EXPECT_EQ(names_of(Way::gather, {"llama-405b"}, 8, 1024),
            (Names{"llama-405b.qkv:1024x16384x2304", "llama-405b.gate-up:1024x16384x13312"}));
  EXPECT_EQ(names_of(Way::scatter, {"llama-405b"}, 8, 1024),
            (Names{"llama-405b.o:1024x2048x16384", "llama-405b.down:1024x6656x16384"}));
}

TEST(PerftestOverlapShapes, ListsAndShapesComeInOrder) {
  EXPECT_EQ(names_of(Way::gather, {"small", "8x8x8"}, 8),
            (std::vector<std::string>{"small:16x8192x4096", "small:64x8192x4096", "small:256x8192x4096",
                                      "small:1024x8192x4096", "8x8x8"}));
  EXPECT_EQ(names_of(Way::scatter, {"small"}, 1)[0], "small:16x4096x8192");
}

TEST(PerftestOverlapShapes, EveryListHasShapesForTwoFourAndEight) {
  for (const std::string& list : shape_lists())
    for (const int npes : {1, 2, 4, 8})
      for (const Way way : {Way::gather, Way::scatter})
        for (const Shape& shape : shapes_of(way, {list}, npes, 8192)) {
          EXPECT_EQ(shape.m % static_cast<size_t>(npes), 0u) << shape.name;
          EXPECT_EQ(shape.k % 8, 0u) << shape.name << ": cuBLASLt is slow where rows are not multiples of 16 bytes";
          EXPECT_EQ(shape.n % 8, 0u) << shape.name;
        }
}

TEST(PerftestOverlapShapes, WhatPesDoNotDivideIsRefused) {
  const auto refusal = [](const std::string& word, int npes, size_t tokens) -> std::string {
    try {
      shapes_of(Way::gather, {word}, npes, tokens);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("15x8x8", 2, 8192), "15x8x8: 2 PEs do not divide its 15 rows");
  EXPECT_EQ(refusal("llama-70b", 3, 8193),
            "llama-70b: 3 PEs do not divide its 8 heads of keys and 28672 inner columns");
  EXPECT_EQ(refusal("llama-70b", 2, 4097), "llama-70b.qkv:4097x8192x5120: 2 PEs do not divide its 4097 rows");
}

}  // namespace
}  // namespace railshmem::perf::gpu::overlap
