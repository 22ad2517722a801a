// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/trusted_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "src/base/error.h"

namespace railshmem {
namespace {

constexpr int kFolders = 2;  // an installation is a folder in a folder: lib/railshmem
// A FIFO or a terminal must neither make the caller wait nor become its controlling terminal.
constexpr int kSafely = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

bool is_own(uid_t owner, uid_t also) noexcept {
  if (owner == 0 || owner == geteuid() || owner == also) return true;
  struct stat root {};
  return stat("/", &root) == 0 && owner == root.st_uid;
}

bool is_private_group(const struct stat& found) noexcept {
  return found.st_gid == 0 || found.st_gid == found.st_uid || (S_ISDIR(found.st_mode) && found.st_uid == 0);
}

/// What is wrong with one file or folder; empty: nothing.
std::string distrust(const struct stat& found, const Keepers& also) {
  if (!is_own(found.st_uid, also.owner))
    return text("belongs to another user (uid %u)", static_cast<unsigned>(found.st_uid));
  if (S_ISDIR(found.st_mode) && (found.st_mode & S_ISVTX) != 0) return {};
  const unsigned mode = found.st_mode & 07777;
  if ((mode & S_IWOTH) != 0) return text("can be written by other users (its mode is %04o); run chmod o-w", mode);
  const auto& groups = also.groups;
  if ((mode & S_IWGRP) != 0 && !is_private_group(found) &&
      std::find(groups.begin(), groups.end(), found.st_gid) == groups.end())
    return text("can be written by group %u (its mode is %04o); run chmod g-w", static_cast<unsigned>(found.st_gid),
                mode);
  return {};
}

std::string distrust_folders(std::string path, const Keepers& also) {
  for (int i = 0; i < kFolders && path.size() > 1; ++i) {
    path.resize(std::max<size_t>(path.rfind('/'), 1));
    struct stat folder {};
    if (stat(path.c_str(), &folder) != 0) return text("is in folder %s: %s", path.c_str(), std::strerror(errno));
    const std::string why = distrust(folder, also);
    if (!why.empty()) return text("is in folder %s, which %s", path.c_str(), why.c_str());
  }
  return {};
}

/// Of the file that is open, so that nobody can put another one in its place meanwhile. Without /proc that of its name.
std::string path_of(int fd, const std::string& name) {
  char path[PATH_MAX + 1];
  const ssize_t n = readlink(text("/proc/self/fd/%d", fd).c_str(), path, PATH_MAX);
  if (n > 0 && path[0] == '/') return std::string(path, static_cast<size_t>(n));
  return realpath(name.c_str(), path) != nullptr ? path : name;
}

void refuse(TrustedFile& file, std::string why) {
  file.fd.reset();
  file.refusal = std::move(why);
}

void refuse_unopened(TrustedFile& file) {
  file.error = errno;
  refuse(file, text("cannot be opened: %s", std::strerror(file.error)));
}

/// Whether somebody else has put a link at the end of this path.
bool is_foreign_link(const std::string& path) noexcept {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode) && !is_own(found.st_uid, 0);
}

}  // namespace

Keepers keepers_of(const std::string& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return {};
  Keepers keepers{found.st_uid, {}};
  if ((found.st_mode & S_IWGRP) != 0) keepers.groups.push_back(found.st_gid);
  const size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, std::max<size_t>(slash, 1));
  if (stat(folder.c_str(), &found) == 0 && (found.st_mode & S_IWGRP) != 0 && (found.st_mode & S_ISVTX) == 0)
    keepers.groups.push_back(found.st_gid);
  return keepers;
}

TrustedFile open_trusted(const std::string& path, int flags, const Keepers& also) {
  TrustedFile file;
  file.fd = UniqueFd(open(path.c_str(), flags | kSafely));
  if (!file.fd) {
    refuse_unopened(file);
    return file;
  }
  struct stat found {};
  check_errno(fstat(file.fd.get(), &found) == 0, "fstat");
  file.path = path_of(file.fd.get(), path);
  std::string why = distrust(found, also);
  if (why.empty()) why = distrust_folders(file.path, also);
  if (!why.empty()) refuse(file, std::move(why));
  return file;
}

TrustedFile open_own_output(const std::string& path, int flags, mode_t mode) {
  TrustedFile file;
  const int kept = (flags & ~O_TRUNC) | kSafely;
  file.fd = UniqueFd(open(path.c_str(), kept | O_CREAT | O_EXCL, mode));
  if (file.fd) {  // whoever its file system says that it belongs to
    file.path = path_of(file.fd.get(), path);
    return file;
  }
  if (errno == EEXIST) file.fd = UniqueFd(open(path.c_str(), kept | O_NOFOLLOW));
  if (!file.fd && errno == ELOOP && !is_foreign_link(path))
    file.fd = UniqueFd(open(path.c_str(), kept | O_CREAT, mode));
  if (!file.fd) {
    const bool link = errno == ELOOP;
    refuse_unopened(file);
    if (link) file.refusal = "is a link that belongs to another user";
    if (link) file.error = 0;
    return file;
  }
  struct stat found {};
  check_errno(fstat(file.fd.get(), &found) == 0, "fstat");
  file.path = path_of(file.fd.get(), path);
  if (S_ISREG(found.st_mode) && !is_own(found.st_uid, 0))
    refuse(file, text("belongs to another user (uid %u)", static_cast<unsigned>(found.st_uid)));
  else if ((flags & O_TRUNC) != 0 && S_ISREG(found.st_mode) && ftruncate(file.fd.get(), 0) != 0)
    refuse_unopened(file);
  return file;
}

}  // namespace railshmem
