// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/env.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>

#include "src/base/error.h"
#include "src/base/printable.h"

namespace railshmem {
namespace {

const char* process_lookup(const char* name) {
  return std::getenv(name);
}

/// Scripts and job files cannot always leave a variable out, so an empty one counts as not set.
bool has_text(const char* value) noexcept {
  return value && *value;
}

/// The name under which a variable is set: itself, or its deprecated SMA_ twin (section 8 of the standard).
const char* set_name(const Env::Lookup& lookup, const char* name, std::string& twin) {
  if (has_text(lookup(name))) return name;
  static constexpr std::string_view kStandard[] = {"SHMEM_VERSION", "SHMEM_INFO", "SHMEM_DEBUG",
                                                   "SHMEM_SYMMETRIC_SIZE"};
  if (std::find(std::begin(kStandard), std::end(kStandard), name) == std::end(kStandard)) return nullptr;
  twin = "SMA_" + std::string(name + strlen("SHMEM_"));
  return has_text(lookup(twin.c_str())) ? twin.c_str() : nullptr;
}

template <class Type>
typename Type::Value read(const Env::Lookup& lookup, const char* name, const char* fallback) {
  std::string twin;
  const char* used = set_name(lookup, name, twin);
  if (!used) {
    if constexpr (std::is_same_v<Type, env_types::Flag>) return false;
    return Type::parse(fallback);
  }
  try {
    return Type::parse(lookup(used));
  } catch (const Error& e) {
    if constexpr (std::is_same_v<Type, env_types::Secret>) throw Error(text("%s cannot be used; %s", used, e.what()));
    throw Error(text("%s is '%s'; %s", used, printable(lookup(used)).c_str(), e.what()));
  }
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

Env Env::parse(const Lookup& lookup) {
  Env env;
#define ENV(field, type, fallback, name, help) env.field = read<env_types::type>(lookup, name, fallback);
#include "src/base/env_table.inc"
#undef ENV
  return env;
}

Env Env::parse() {
  return parse(process_lookup);
}

std::span<const EnvRow> env_rows() {
  static constexpr EnvRow kRows[] = {
#define ENV(field, type, fallback, name, help) \
  {name, fallback, help, std::is_same_v<env_types::type, env_types::Secret>},
#include "src/base/env_table.inc"
#undef ENV
  };
  return kRows;
}

std::string describe_env(const Env::Lookup& lookup) {
  // Columns as wide as their longest entry, but for values that would push the help out of sight.
  constexpr int kWidestValue = 24;
  struct Line {
    const EnvRow* row;
    std::string value;
    bool set;
  };
  std::vector<Line> lines;
  int name_width = 0, value_width = 0;
  for (const EnvRow& row : env_rows()) {
    std::string twin;
    const char* const used = set_name(lookup, row.name, twin);
    std::string value = printable(used ? lookup(used) : row.fallback);
    if (row.secret) value = used ? "set" : "not set";
    const int width = static_cast<int>(value.size());
    if (width <= kWidestValue) value_width = std::max(value_width, width);
    lines.push_back({&row, std::move(value), used != nullptr});
    name_width = std::max(name_width, static_cast<int>(strlen(row.name)));
  }
  std::string out;
  for (const Line& line : lines)
    out += text("%-*s  %-*s  %-9s  %s\n", name_width, line.row->name, value_width, line.value.c_str(),
                line.set ? "(set)" : "(default)", line.row->help);
  return out;
}

std::string describe_env() {
  return describe_env(process_lookup);
}

std::vector<std::string> unknown_names(const std::vector<std::string>& environment) {
  std::vector<std::string> warnings;
  for (const std::string& entry : environment) {
    const std::string name = entry.substr(0, entry.find('='));
    if (name.rfind("SHMEM_", 0) != 0 || entry.size() == name.size() + 1) continue;
    const auto& rows = env_rows();
    const auto distance = [&](const EnvRow& row) { return edit_distance(name, row.name); };
    const auto nearest = std::min_element(rows.begin(), rows.end(),
                                          [&](const EnvRow& a, const EnvRow& b) { return distance(a) < distance(b); });
    if (name != nearest->name)
      warnings.push_back(text("%s is no variable of this library; did you mean %s?", name.c_str(), nearest->name));
  }
  return warnings;
}

std::vector<std::string> process_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; entry && *entry; ++entry) out.emplace_back(*entry);
  return out;
}

const char* launcher_variable(const char* name) noexcept {
  const char* value = std::getenv(name);
  return has_text(value) ? value : nullptr;
}

}  // namespace railshmem
