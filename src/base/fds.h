// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that system calls make in pairs or hide in something else, and what the library does about 0 to 2.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <array>
#include <memory>
#include <string>

#include "src/base/unique.h"

namespace railshmem {

struct FdPipe {
  UniqueFd read, write;
};

/// Closed by exec. Throws Error.
FdPipe make_pipe();

/// Two connected stream sockets of this host, closed by exec. Throws Error.
std::array<UniqueFd, 2> make_socket_pair();

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

/// Null and errno where it cannot be opened.
Folder open_folder(const char* path) noexcept;

/// All of a file of /proc, /sys or the user's; empty where it cannot be read, and then errno is not 0.
std::string read_file(const std::string& path);

/// Occupies those of 0 to 2 that are closed, so that libraries which open descriptors of their own (libfabric, MPI,
/// PMIx, CUDA) do not get them. A read or write of such a placeholder fails with EBADF, as if it were closed; exec
/// closes it. What the program has opened in its place meanwhile stays.
class StandardPlaceholders {
 public:
  StandardPlaceholders() noexcept;
  StandardPlaceholders(StandardPlaceholders&&) = delete;
  ~StandardPlaceholders();

 private:
  std::array<bool, 3> held_{};
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace railshmem
