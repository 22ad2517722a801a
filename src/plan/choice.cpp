// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/choice.h"

#include <algorithm>
#include <limits>
#include <map>

#include "src/base/error.h"

namespace railshmem {
namespace {

#define COLLECTIVE(name)
#define ALGORITHM(collective, reach, algorithm, help)
#define CHOOSE(collective, reach, up_to_bytes, up_to_members, algorithm)

struct Exists {
  Collective collective;
  Reach reach;
  Algorithm algorithm;
  std::string_view collective_name;
  std::string_view reach_name;
  std::string_view name;
  std::string_view help;
};

#undef ALGORITHM
#define ALGORITHM(collective, reach, algorithm, help) \
  {Collective::collective, Reach::reach, Algorithm::algorithm, #collective, #reach, #algorithm, help},
constexpr Exists kExisting[] = {
#include "src/plan/choice_table.inc"
};
#undef ALGORITHM
#define ALGORITHM(collective, reach, algorithm, help)

/// Takes any size and any number of members.
struct Any {
  constexpr operator size_t() const { return std::numeric_limits<size_t>::max(); }
  constexpr operator int() const { return std::numeric_limits<int>::max(); }
};
constexpr Any kAny;

struct Chosen {
  Collective collective;
  Reach reach;
  ChoiceRow row;
};

#undef CHOOSE
#define CHOOSE(collective, reach, up_to_bytes, up_to_members, algorithm) \
  {Collective::collective, Reach::reach, {up_to_bytes, up_to_members, Algorithm::algorithm}},
constexpr Chosen kTable[] = {
#include "src/plan/choice_table.inc"
};
#undef CHOOSE
#undef ALGORITHM
#undef COLLECTIVE

constexpr bool exists(const Chosen& chosen) {
  for (const Exists& e : kExisting)
    if (e.collective == chosen.collective && e.reach == chosen.reach && e.algorithm == chosen.row.algorithm)
      return true;
  return false;
}

/// pick() runs to the row that takes everything, so there must be one where there are algorithms, and every row must
/// name what exists.
constexpr bool table_is_whole() {
  for (const Chosen& chosen : kTable)
    if (!exists(chosen)) return false;
  for (int c = 0; c < static_cast<int>(Collective::kCount); ++c)
    for (int r = 0; r < static_cast<int>(Reach::kCount); ++r) {
      const auto here = [&](const auto& one) {
        return static_cast<int>(one.collective) == c && static_cast<int>(one.reach) == r;
      };
      bool ends = true;
      for (const Exists& e : kExisting)
        if (here(e)) ends = false;
      for (const Chosen& chosen : kTable)
        if (here(chosen)) ends = chosen.row.up_to_bytes == size_t{kAny} && chosen.row.up_to_members == int{kAny};
      if (!ends) return false;
    }
  return true;
}
static_assert(table_is_whole());

/// One line, however many algorithms there are: those of the collective, or the collectives where there is no such one.
[[noreturn]] void refuse(const std::string& collective, const std::string& algorithm) {
  std::vector<std::string_view> algorithms, collectives;
  const auto add = [](std::vector<std::string_view>& names, std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Exists& e : kExisting) {
    add(collectives, e.collective_name);
    if (e.collective_name == collective) add(algorithms, e.name);
  }
  const auto list = [](const std::vector<std::string_view>& names) {
    std::string out;
    for (const std::string_view name : names) out += (out.empty() ? "" : ", ") + std::string(name);
    return out;
  };
  if (algorithms.empty())
    throw Error(
        text("SHMEM_COLLECTIVES has '%s', which is no collective; accepted: collective=algorithm, "
             "comma-separated, for %s",
             collective.c_str(), list(collectives).c_str()));
  throw Error(text("SHMEM_COLLECTIVES has '%s=%s', but %s has no algorithm '%s'; accepted: %s", collective.c_str(),
                   algorithm.c_str(), collective.c_str(), algorithm.c_str(), list(algorithms).c_str()));
}

}  // namespace

Choice::Choice(std::string_view overrides) {
  for (const Chosen& chosen : kTable) rows_[index(chosen.collective, chosen.reach)].push_back(chosen.row);
  if (overrides.empty()) return;
  while (true) {
    const size_t comma = overrides.find(',');
    const std::string_view one = overrides.substr(0, comma);
    const size_t equals = one.find('=');
    use(one.substr(0, equals), equals == std::string_view::npos ? "" : one.substr(equals + 1));
    if (comma == std::string_view::npos) return;
    overrides.remove_prefix(comma + 1);
  }
}

void Choice::use(std::string_view collective, std::string_view algorithm) {
  bool found = false;
  for (const Exists& e : kExisting) {
    if (e.collective_name != collective || e.name != algorithm) continue;
    rows_[index(e.collective, e.reach)] = {{kAny, kAny, e.algorithm}};
    forced_[index(e.collective, e.reach)] = true;
    found = true;
  }
  if (!found) refuse(std::string(collective), std::string(algorithm));
}

std::string_view name_of(Algorithm algorithm) noexcept {
  for (const Exists& e : kExisting)
    if (e.algorithm == algorithm) return e.name;
  return "?";
}

std::string_view name_of(Collective collective) noexcept {
  for (const Exists& e : kExisting)
    if (e.collective == collective) return e.collective_name;
  return "?";
}

}  // namespace railshmem
