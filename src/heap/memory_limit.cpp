// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/memory_limit.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "src/base/fds.h"

namespace railshmem {
namespace {

/// The number behind `key` in a file of "key value" lines; false when there is none.
bool read_field(const std::string& path, const std::string& key, uint64_t& value) {
  std::istringstream file(read_file(path));
  std::string word;
  while (file >> word) {
    if (word == key) return static_cast<bool>(file >> value);
    file.ignore(4096, '\n');
  }
  return false;
}

bool read_number(const std::string& path, uint64_t& value) {
  std::istringstream file(read_file(path));
  return static_cast<bool>(file >> value);  // "max", no limit, is no number
}

uint64_t host_memory() {
  uint64_t free_kib = 0;
  uint64_t swap_kib = 0;
  if (!read_field("/proc/meminfo", "MemAvailable:", free_kib)) return UINT64_MAX;
  read_field("/proc/meminfo", "SwapFree:", swap_kib);
  return (free_kib + swap_kib) * 1024;
}

uint64_t group_limit(const std::string& group) {
  uint64_t limit = 0;
  return read_number(group + "/memory.max", limit) ? limit : UINT64_MAX;
}

uint64_t group_memory(const std::string& group) {
  uint64_t limit = 0;
  uint64_t used = 0;
  if (!read_number(group + "/memory.max", limit) || !read_number(group + "/memory.current", used)) return UINT64_MAX;
  uint64_t cache = 0;
  uint64_t active = 0;
  read_field(group + "/memory.stat", "inactive_file", cache);
  read_field(group + "/memory.stat", "active_file", active);
  used -= std::min(used, cache + active);
  return limit - std::min(limit, used);
}

/// The tightest of the groups from this process's own up to the root, by what `of_group` says of each.
uint64_t control_groups(uint64_t (*of_group)(const std::string&)) {
  std::istringstream file(read_file("/proc/self/cgroup"));
  std::string line;
  while (std::getline(file, line))
    if (line.rfind("0::/", 0) == 0) break;
  if (line.rfind("0::/", 0) != 0) return UINT64_MAX;
  std::string path = line.substr(3);
  uint64_t least = UINT64_MAX;
  for (;;) {
    least = std::min(least, of_group("/sys/fs/cgroup" + (path == "/" ? "" : path)));
    if (path.size() <= 1) return least;
    path.resize(std::max<size_t>(path.rfind('/'), 1));
  }
}

}  // namespace

uint64_t available_memory() noexcept {
  try {
    return std::min(host_memory(), control_groups(group_memory));
  } catch (...) {
    return UINT64_MAX;  // the kernel itself decides then
  }
}

uint64_t total_memory() noexcept {
  try {
    uint64_t total_kib = 0;
    const bool known = read_field("/proc/meminfo", "MemTotal:", total_kib);
    return std::min(known ? total_kib * 1024 : UINT64_MAX, control_groups(group_limit));
  } catch (...) {
    return UINT64_MAX;
  }
}

}  // namespace railshmem
