// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/fds.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/error.h"

namespace railshmem {
namespace {

constexpr const char* kPlaceholder = "/";  // always there; by O_PATH it can be neither read nor written
constexpr int kAsPlaceholder = O_PATH | O_CLOEXEC;

}  // namespace

FdPipe make_pipe() {
  int ends[2];
  check_errno(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  FdPipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  check_errno(pipe.read && pipe.write, "fcntl(F_DUPFD_CLOEXEC)");
  return pipe;
}

std::array<UniqueFd, 2> make_socket_pair() {
  int ends[2];
  check_errno(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  std::array<UniqueFd, 2> pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
  check_errno(pair[0] && pair[1], "fcntl(F_DUPFD_CLOEXEC)");
  return pair;
}

Folder open_folder(const char* path) noexcept {
  UniqueFd fd(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return nullptr;
  Folder folder(fdopendir(fd.get()));
  if (folder) fd.release();
  return folder;
}

std::string read_file(const std::string& path) {
  std::string content;
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return content;
  char block[1 << 12];
  for (;;) {
    const ssize_t n = ::read(fd.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = 0;
      return content;
    }
    content.append(block, static_cast<size_t>(n));
  }
}

StandardPlaceholders::StandardPlaceholders() noexcept {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // Another thread may have taken the number since.
    const int made = open(kPlaceholder, kAsPlaceholder);
    struct stat found {};
    held_[static_cast<size_t>(fd)] = made == fd && fstat(made, &found) == 0;
    device_ = found.st_dev;
    inode_ = found.st_ino;
    if (made != fd && made >= 0) close(made);
  }
}

StandardPlaceholders::~StandardPlaceholders() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    struct stat found {};
    if (!held_[static_cast<size_t>(fd)] || fstat(fd, &found) != 0) continue;
    if ((fcntl(fd, F_GETFL) & O_PATH) != 0 && found.st_dev == device_ && found.st_ino == inode_) close(fd);
  }
}

}  // namespace railshmem
