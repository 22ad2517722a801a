// SPDX-License-Identifier: BSD-3-Clause
#include "src/heap/memory_limit.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "src/base/fds.h"

namespace railshmem {
namespace {

/// The number behind `key` in a file of "key value" lines; false if none exists.
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

uint64_t host_memory(const std::string& root) {
  uint64_t free_kib = 0;
  uint64_t swap_kib = 0;
  if (!read_field(root + "/proc/meminfo", "MemAvailable:", free_kib)) return UINT64_MAX;
  read_field(root + "/proc/meminfo", "SwapFree:", swap_kib);
  return (free_kib + swap_kib) * 1024;
}

/// How a version of control groups calls what is read here.
struct Files {
  const char* type;  ///< of the file system
  const char* limit;
  const char* used;
  const char* inactive_file;
  const char* active_file;
};
constexpr Files kVersion1{"cgroup", "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
                          "total_active_file"};
constexpr Files kVersion2{"cgroup2", "/memory.max", "/memory.current", "inactive_file", "active_file"};

uint64_t group_limit(const std::string& group, const Files& files) {
  uint64_t limit = UINT64_MAX;
  if (!read_number(group + files.limit, limit)) return UINT64_MAX;
  // Version 1 tells here what groups allow that a container does not see.
  uint64_t above = UINT64_MAX;
  read_field(group + "/memory.stat", "hierarchical_memory_limit", above);
  return std::min(limit, above);
}

uint64_t group_memory(const std::string& group, const Files& files) {
  const uint64_t limit = group_limit(group, files);
  uint64_t used = 0;
  if (limit == UINT64_MAX || !read_number(group + files.used, used)) return UINT64_MAX;
  uint64_t cache = 0;
  uint64_t active = 0;
  read_field(group + "/memory.stat", files.inactive_file, cache);
  read_field(group + "/memory.stat", files.active_file, active);
  used -= std::min(used, cache + active);
  return limit - std::min(limit, used);
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// This process's group in the hierarchy of a version: "/user/job"; nothing where it is in none that limits memory.
std::optional<std::string> own_group(const std::string& root, const Files& files) {
  std::istringstream file(read_file(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(file, line);) {  // 4:memory,hugetlb:/user/job, or 0::/user/job
    const size_t names = line.find(':') + 1;
    const size_t path = line.find(':', names) + 1;
    if (names == 0 || path == 0) continue;
    const std::string controllers = line.substr(names, path - 1 - names);
    if (&files == &kVersion2 ? line.starts_with("0::/") : has_word(controllers, "memory")) return line.substr(path);
  }
  return std::nullopt;
}

struct Mount {
  std::string place;  ///< where it is seen
  std::string top;    ///< the group that is seen there; in a container perhaps not "/"
};

/// Of /proc/self/mountinfo: "35 31 0:32 TOP PLACE rw shared:1 - cgroup cgroup rw,memory".
Mount mount_of(const std::string& root, const Files& files) {
  std::istringstream file(read_file(root + "/proc/self/mountinfo"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string skipped, top, place, type, source, options;
    words >> skipped >> skipped >> skipped >> top >> place;
    while (words >> skipped && skipped != "-") {
    }
    words >> type >> source >> options;
    if (type == files.type && (&files == &kVersion2 || has_word(options, "memory"))) return {root + place, top};
  }
  return {root + "/sys/fs/cgroup", "/"};
}

/// The tightest of the groups from this process's own up to the root, by what `of_group` says of each.
uint64_t hierarchy(const std::string& root, const Files& files,
                   uint64_t (*of_group)(const std::string&, const Files&)) {
  const std::optional<std::string> group = own_group(root, files);
  if (!group) return UINT64_MAX;
  const Mount mount = mount_of(root, files);
  std::string path = *group;
  if (mount.top != "/") path = path.starts_with(mount.top) ? path.substr(mount.top.size()) : "/";
  uint64_t least = UINT64_MAX;
  for (;;) {
    least = std::min(least, of_group(mount.place + (path == "/" ? "" : path), files));
    if (path.size() <= 1) return least;
    path.resize(std::max<size_t>(path.rfind('/'), 1));
  }
}

uint64_t control_groups(const std::string& root, uint64_t (*of_group)(const std::string&, const Files&)) {
  return std::min(hierarchy(root, kVersion1, of_group), hierarchy(root, kVersion2, of_group));
}

}  // namespace

uint64_t available_memory(const std::string& root) noexcept {
  try {
    return std::min(host_memory(root), control_groups(root, group_memory));
  } catch (...) {
    return UINT64_MAX;  // the kernel itself decides then
  }
}

uint64_t total_memory(const std::string& root) noexcept {
  try {
    uint64_t total_kib = 0;
    const bool known = read_field(root + "/proc/meminfo", "MemTotal:", total_kib);
    return std::min(known ? total_kib * 1024 : UINT64_MAX, control_groups(root, group_limit));
  } catch (...) {
    return UINT64_MAX;
  }
}

}  // namespace railshmem
