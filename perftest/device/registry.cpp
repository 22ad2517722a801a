// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/registry.h"

#include <algorithm>
#include <string>

namespace railshmem::perf::gpu {
namespace {

/// A function's static: registration runs before main, in no known order.
std::vector<Bench>& table() {
  static std::vector<Bench> rows;
  return rows;
}

bool before(const Bench& a, const Bench& b) {
  const std::string_view left(a.name), right(b.name);
  const bool left_floor = left.starts_with("floor_"), right_floor = right.starts_with("floor_");
  return left_floor == right_floor ? left < right : right_floor;
}

}  // namespace

Register::Register(const Bench& bench) {
  auto& rows = table();
  rows.insert(std::upper_bound(rows.begin(), rows.end(), bench, before), bench);
}

const Bench* find_bench(std::string_view name) {
  const auto& rows = table();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Bench& b) { return name == b.name; });
  return found == rows.end() ? nullptr : &*found;
}

std::string list_benches() {
  std::string text;
  for (const Bench& bench : table()) {
    std::string line = bench.name;
    line.resize(std::max<size_t>(line.size() + 1, 22), ' ');
    text += line + bench.help + "\n";
  }
  return text;
}

}  // namespace railshmem::perf::gpu
