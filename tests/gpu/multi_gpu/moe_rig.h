// SPDX-License-Identifier: BSD-3-Clause
// Routings and tokens that every PE can compute for all PEs, and what dispatch and combine must make of them.
#pragma once

#include <shmemx_moe.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "src/base/small_floats.h"

namespace railshmem::multi {

/// How tokens choose experts. Cancelling: at random, with weights that show the order of sums in every bit.
enum class Routing : uint8_t { random, skewed, one_expert, with_dropped, twice, none, cancelling };

struct MoeCase {
  int type, dispatch_type, local, topk, hidden, max_tokens;
  Routing routing;
  bool weighted, hook;
  int multiprocessors = 0;
  bool late_weights = false;
  int scale_type = SHMEMX_MOE_SCALE_FLOAT;
  bool x_scaled = false;  ///< the test makes the 8-bit floats
  bool renewed = false;   ///< numbers come to where places of packets are emptied, and old packets lie there
};

inline uint32_t mixed(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu ^ (c + 0x165667b1u) * 0x27d4eb2fu;
  h = (h ^ h >> 15) * 0xc2b2ae35u;
  return h ^ h >> 13;
}

inline uint16_t rounded(float value, int type) {
  return type == SHMEMX_DATATYPE_HALF ? std::bit_cast<uint16_t>(Half(value)) : std::bit_cast<uint16_t>(Bfloat16(value));
}
inline float value_of(uint16_t bits, int type) {
  return type == SHMEMX_DATATYPE_HALF ? std::bit_cast<Half>(bits).value() : std::bit_cast<Bfloat16>(bits).value();
}

/// What one PE sends in one round.
struct Tokens {
  Tokens(const MoeCase& one, int n, int pe, uint32_t round) {
    const int all = one.local * n;
    count = one.routing == Routing::none && pe % 2 == 0 ? 0
                                                        : static_cast<int>(mixed(7, static_cast<uint32_t>(pe), round) %
                                                                           (static_cast<uint32_t>(one.max_tokens) + 1));
    if (round == 0) count = one.max_tokens;
    const uint32_t seed = round * 64 + static_cast<uint32_t>(pe);
    for (int t = 0; t < count; ++t) {
      const size_t first = experts.size();
      for (int k = 0; k < one.topk; ++k) {
        experts.push_back(chosen(one, all, mixed(seed, static_cast<uint32_t>(t), static_cast<uint32_t>(k)), first, k));
        weights.push_back(weight(one, seed, t, k));
      }
      for (int h = 0; h < one.hidden; ++h) {
        const uint32_t bits = mixed(seed, static_cast<uint32_t>(t), static_cast<uint32_t>(h) + 1000);
        x.push_back(rounded((static_cast<float>(bits >> 8) * 0x1p-23F - 1) * (bits % 7 == 0 ? 50.0F : 1.0F), one.type));
      }
    }
  }

  int count = 0;
  std::vector<int64_t> experts;  ///< [count][topk]
  std::vector<float> weights;
  std::vector<uint16_t> x;  ///< [count][hidden]

 private:
  static float weight(const MoeCase& one, uint32_t seed, int t, int k) {
    if (!one.weighted) return 1.0F;
    const auto fraction = [&](int i) {
      return static_cast<float>(mixed(seed + 1, static_cast<uint32_t>(t * 40 + i), 3) >> 8) * 0x1p-24F;
    };
    if (one.routing != Routing::cancelling || k % 2 == 1) return fraction(k);
    return fraction(0) * (k % 4 == 0 ? 0x1p20F : -0x1p20F);
  }
  int64_t chosen(const MoeCase& one, int all, uint32_t random, size_t first, int k) const {
    if (one.routing == Routing::one_expert) return k == 0 ? all - 1 : -1;
    if (one.routing == Routing::with_dropped && random % 3 == 0) return -1;
    if (one.routing == Routing::twice && k % 2 == 1) return experts[first + static_cast<size_t>(k) - 1];
    const bool low = one.routing == Routing::skewed && random % 4 != 0;
    const auto among = static_cast<uint32_t>(low ? std::max(1, all / 4) : all);
    for (uint32_t i = 0;; ++i) {
      const auto expert = static_cast<int64_t>((random / 16 + i) % among);
      const auto begin = experts.begin() + static_cast<std::ptrdiff_t>(first);
      if (i >= among) return -1;  // all of them are taken
      if (std::find(begin, experts.end(), expert) == experts.end()) return expert;
    }
  }
};

/// The k-th expert of a token, or -1 where an earlier one is the same.
inline int64_t expert_of(const Tokens& tokens, int topk, int t, int k) {
  const int64_t* const all = &tokens.experts[static_cast<size_t>(t) * static_cast<size_t>(topk)];
  return std::find(all, all + k, all[k]) == all + k ? all[k] : -1;
}
inline float weight_of(const Tokens& tokens, int topk, int t, int k) {
  const size_t first = static_cast<size_t>(t) * static_cast<size_t>(topk);
  float sum = 0;
  for (size_t i = first + static_cast<size_t>(k); i < first + static_cast<size_t>(topk); ++i)
    if (tokens.experts[i] == tokens.experts[first + static_cast<size_t>(k)]) sum += tokens.weights[i];
  return sum;
}

/// One row as an expert gets it.
struct Row {
  std::vector<uint8_t> bytes;
  std::vector<float> scales;
};
inline Row row_of(const MoeCase& one, const uint16_t* x) {
  Row row;
  const auto hidden = static_cast<size_t>(one.hidden);
  if (one.dispatch_type == one.type) {
    row.bytes.resize(hidden * 2);
    std::memcpy(row.bytes.data(), x, row.bytes.size());
    return row;
  }
  for (size_t g = 0; g < hidden; g += 128) {
    float most = 1e-4F;
    for (size_t i = g; i < g + 128; ++i) most = std::max(most, std::abs(value_of(x[i], one.type)));
    float scale = most / 448.0F, factor = 448.0F / most;
    if (one.scale_type != SHMEMX_MOE_SCALE_FLOAT) {
      scale = std::exp2(std::ceil(std::log2(scale)));
      factor = 1 / scale;
    }
    for (size_t i = g; i < g + 128; ++i) row.bytes.push_back(Float8E4M3(value_of(x[i], one.type) * factor).bits());
    row.scales.push_back(scale);
  }
  return row;
}
/// What the test's experts make of a row.
inline std::vector<uint16_t> expert_result(const MoeCase& one, int64_t expert, const Row& row) {
  std::vector<uint16_t> result;
  const float factor = one.routing == Routing::cancelling ? 1.0F : 1.0F + static_cast<float>(expert % 5) / 4.0F;
  for (size_t i = 0; i < static_cast<size_t>(one.hidden); ++i) {
    float value = 0;
    if (row.scales.empty()) {
      uint16_t bits = 0;
      std::memcpy(&bits, &row.bytes[2 * i], sizeof bits);
      value = value_of(bits, one.type);
    } else {
      value = Float8E4M3::of_bits(row.bytes[i]).value() * row.scales[i / 128];
    }
    result.push_back(rounded(value * factor, one.type));
  }
  return result;
}

/// What combine must give for a token, by the plain order of sums, without masked members (bits).
inline std::vector<uint16_t> combined(const MoeCase& one, int n, const Tokens& tokens, int t, uint64_t masked = 0) {
  const auto hidden = static_cast<size_t>(one.hidden);
  std::vector<float> sum(hidden, 0.0F);
  const Row row = row_of(one, &tokens.x[static_cast<size_t>(t) * hidden]);
  for (int member = 0; member < n; ++member) {
    std::vector<float> theirs(hidden, 0.0F);
    bool any = false;
    for (int k = 0; k < one.topk; ++k) {
      const int64_t expert = expert_of(tokens, one.topk, t, k);
      if (expert < 0 || expert / one.local != member || (masked >> member & 1) != 0) continue;
      any = true;
      const float weight = weight_of(tokens, one.topk, t, k);
      const std::vector<uint16_t> result = expert_result(one, expert, row);
      for (size_t i = 0; i < hidden; ++i) theirs[i] += weight * value_of(result[i], one.type);
    }
    for (size_t i = 0; any && i < hidden; ++i) sum[i] += theirs[i];
  }
  std::vector<uint16_t> result(hidden);
  for (size_t i = 0; i < hidden; ++i) result[i] = rounded(sum[i], one.type);
  return result;
}

}  // namespace railshmem::multi
