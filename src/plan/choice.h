// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm a collective uses: by size and number of members from one table (choice_table.inc), or as the
// program's user says (SHMEM_COLLECTIVES).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace railshmem {

enum class Collective : uint8_t {
#define COLLECTIVE(name) name,
#define ALGORITHM(collective, reach, algorithm, help)
#define CHOOSE(collective, reach, up_to_bytes, up_to_members, algorithm)
#include "src/plan/choice_table.inc"
#undef COLLECTIVE
#undef ALGORITHM
#undef CHOOSE
  kCount
};

/// Host calls: node where every member loads and stores the memory of every other, else network. Calls in the order of
/// a stream, among members whose GPUs map each other's memory: stream.
enum class Reach : uint8_t { node, network, stream, kCount };

/// choice_table.inc says what each does. Algorithms of several collectives share a name where they share the idea.
enum class Algorithm : uint8_t {
  line,
  push,
  pull,
  chunks,
  tree,
  scatter,
  direct,
  rails,
  links,
  gather,
  last,
  packed,
  packets,
  parts,
  staged,
  engines
};

struct ChoiceRow {
  size_t up_to_bytes;
  int up_to_members;
  Algorithm algorithm;
};

class Choice {
 public:
  /// `overrides`: "collective=algorithm", comma-separated; empty for the table alone. Throws Error listing what exists.
  explicit Choice(std::string_view overrides = {});

  /// `nbytes` is what choice_table.inc says for the collective; the collective has algorithms for this reach.
  Algorithm pick(Collective collective, Reach reach, size_t nbytes, int members) const noexcept {
    const ChoiceRow* row = rows_[index(collective, reach)].data();
    while (nbytes > row->up_to_bytes || members > row->up_to_members) ++row;  // the last row of a list takes all
    return row->algorithm;
  }

  /// Whether the program's user has said which algorithm to use.
  bool is_forced(Collective collective, Reach reach) const noexcept { return forced_[index(collective, reach)]; }

 private:
  static constexpr size_t kReaches = static_cast<size_t>(Reach::kCount);
  static size_t index(Collective collective, Reach reach) noexcept {
    return static_cast<size_t>(collective) * kReaches + static_cast<size_t>(reach);
  }
  void use(std::string_view collective, std::string_view algorithm);

  std::array<std::vector<ChoiceRow>, static_cast<size_t>(Collective::kCount) * kReaches> rows_;
  std::array<bool, static_cast<size_t>(Collective::kCount) * kReaches> forced_{};
};

/// The words of choice_table.inc.
std::string_view name_of(Algorithm algorithm) noexcept;
std::string_view name_of(Collective collective) noexcept;

}  // namespace railshmem
