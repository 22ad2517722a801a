// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/shm_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace railshmem {
namespace {

// Names of libfabric 1.14 to 2.6: the address PROCESS, to which transports/ofi adds _TIME_COUNT, then :USER:ENDPOINT.
// What the provider makes beside an endpoint's region has the endpoint's name and more behind it.
pid_t process_of(std::string_view name) noexcept {
  const size_t digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits > 9 || digits == std::string_view::npos) return 0;
  const size_t owner = name.find(':');
  if ((name[digits] != '_' && name[digits] != ':') || owner == std::string_view::npos) return 0;
  const std::string user = ":" + std::to_string(getuid()) + ":";
  if (name.compare(owner, user.size(), user) != 0) return 0;
  return static_cast<pid_t>(std::atoi(std::string(name.substr(0, digits)).c_str()));
}

bool ours(int folder, const char* name) noexcept {
  struct stat file {};
  return fstatat(folder, name, &file, AT_SYMLINK_NOFOLLOW) == 0 && file.st_uid == geteuid() &&
         (S_ISREG(file.st_mode) || S_ISSOCK(file.st_mode));
}

}  // namespace

int remove_shm_files(std::span<const pid_t> processes, const char* folder) noexcept {
  const std::unique_ptr<DIR, decltype([](DIR* open) { closedir(open); })> files(opendir(folder));
  int removed = 0;
  for (const dirent* file = nullptr; files && (file = readdir(files.get()));) {
    const pid_t process = process_of(file->d_name);
    if (process == 0 || std::find(processes.begin(), processes.end(), process) == processes.end()) continue;
    if (ours(dirfd(files.get()), file->d_name) && unlinkat(dirfd(files.get()), file->d_name, 0) == 0) ++removed;
  }
  return removed;
}

}  // namespace railshmem
