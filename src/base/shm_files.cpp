// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/shm_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string_view>

#include "src/base/fds.h"

namespace railshmem {
namespace {

struct Maker {
  pid_t process = 0;  ///< 0: none of ours
  uint64_t since_ns = 0;
};

/// Reads a number and the character behind it; false when there is none.
template <class Number>
bool take(std::string_view& rest, int base, char end, Number& number) noexcept {
  const char* last = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data(), last, number, base);
  if (error != std::errc() || stop == last || *stop != end || rest.front() == '-') return false;
  rest.remove_prefix(static_cast<size_t>(stop + 1 - rest.data()));
  return true;
}

// Names of libfabric 1.14 to 2.6: the address PROCESS, to which transports/ofi adds _TIME_COUNT, then :USER:ENDPOINT.
// What the provider makes beside an endpoint's region has the endpoint's name and more behind it.
Maker maker_of(std::string_view name) noexcept {
  Maker maker;
  unsigned count = 0;
  uid_t user = 0;
  const bool ours = take(name, 10, '_', maker.process) && take(name, 16, '_', maker.since_ns) &&
                    take(name, 10, ':', count) && take(name, 10, ':', user) && user == getuid();
  return ours ? maker : Maker{};
}

bool ours(int folder, const char* name) noexcept {
  struct stat file {};
  return fstatat(folder, name, &file, AT_SYMLINK_NOFOLLOW) == 0 && file.st_uid == geteuid() &&
         (S_ISREG(file.st_mode) || S_ISSOCK(file.st_mode));
}

}  // namespace

uint64_t shm_file_time_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

int remove_shm_files(std::span<const pid_t> processes, uint64_t since_ns, const char* folder) noexcept {
  const Folder files = open_folder(folder);
  int removed = 0;
  for (const dirent* file = nullptr; files && (file = readdir(files.get()));) {
    const Maker maker = maker_of(file->d_name);
    if (maker.process == 0 || maker.since_ns < since_ns) continue;
    if (std::find(processes.begin(), processes.end(), maker.process) == processes.end()) continue;
    if (ours(dirfd(files.get()), file->d_name) && unlinkat(dirfd(files.get()), file->d_name, 0) == 0) ++removed;
  }
  return removed;
}

}  // namespace railshmem
