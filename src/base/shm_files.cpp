// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/shm_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <new>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/base/fds.h"

namespace railshmem {
namespace {

struct Maker {
  pid_t process = 0;  ///< 0: none of ours
  uint64_t since_ns = 0;
};

/// Reads a number and the character behind it; false if none exists.
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

int remove_file(int folder, const char* name) noexcept {
  return ours(folder, name) && unlinkat(folder, name, 0) == 0 ? 1 : 0;
}

constexpr std::string_view kClaimEnd = ":claim";

std::string claim_name(uint64_t since_ns) {
  return text("%d_%llx_0:%u%s", static_cast<int>(getpid()), static_cast<unsigned long long>(since_ns), getuid(),
              kClaimEnd.data());
}

/// Holds a claim whose owner has ended; empty where the owner lives, or it cannot be known.
UniqueFd take_over(int folder, const char* name) noexcept {
  UniqueFd fd(openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd || !ours(folder, name) || flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return fd;
}

std::vector<std::string> names_in(DIR* folder) {
  std::vector<std::string> names;
  while (const dirent* file = readdir(folder)) names.emplace_back(file->d_name);
  return names;
}

int sweep(int folder, const std::vector<std::string>& names) {
  int removed = 0;
  for (const std::string& claim : names) {
    const Maker dead = maker_of(claim);
    if (dead.process == 0 || !claim.ends_with(kClaimEnd)) continue;
    const UniqueFd held = take_over(folder, claim.c_str());
    if (!held) continue;
    for (const std::string& name : names) {
      const Maker maker = maker_of(name);
      if (maker.process == dead.process && maker.since_ns == dead.since_ns && name != claim)
        removed += remove_file(folder, name.c_str());
    }
    removed += remove_file(folder, claim.c_str());  // last: as long as it is there, the others can be found again
  }
  return removed;
}

}  // namespace

ShmClaim::ShmClaim(const char* folder) : since_ns_(shm_file_time_ns()) {
  // It gets its name with the lock on it, so that nobody finds it without.
  UniqueFd file(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  const std::string path = std::string(folder) + '/' + claim_name(since_ns_);
  const std::string opened = text("/proc/self/fd/%d", file.get());
  if (linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) return;
  path_ = path;
  lock_ = std::move(file);
}

ShmClaim::~ShmClaim() {
  if (lock_) unlink(path_.c_str());
}

int sweep_shm_files(const char* folder) noexcept {
  try {
    const Folder files = open_folder(folder);
    return files ? sweep(dirfd(files.get()), names_in(files.get())) : 0;
  } catch (const std::bad_alloc&) {  // they stay
    return 0;
  }
}

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
    removed += remove_file(dirfd(files.get()), file->d_name);
  }
  return removed;
}

}  // namespace railshmem
