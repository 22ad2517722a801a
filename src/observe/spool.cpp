// SPDX-License-Identifier: BSD-3-Clause
#include "src/observe/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "src/base/error.h"

namespace railshmem::observe {
namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Refuses what a timeline could not be written to at the end of the job, when nobody could do anything about it: a
/// FIFO would block until somebody reads it.
void must_become_file(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return;
  const char* kind = S_ISDIR(found.st_mode) ? "folder" : S_ISFIFO(found.st_mode) ? "FIFO" : "device or socket";
  throw Error(text("SHMEM_TRACE is '%s', which is a %s; name a file, which the timeline replaces", path.c_str(), kind));
}

UniqueFd open_nameless(const std::string& path) {
  UniqueFd fd(::open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) {  // file systems without O_TMPFILE
    std::string name = path + ".XXXXXX";
    fd = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
    if (fd) ::unlink(name.c_str());
  }
  if (!fd)
    throw Error(
        text("SHMEM_TRACE is '%s', but no file can be made in its folder: %s; name a folder that exists and "
             "can be written",
             path.c_str(), std::strerror(errno)));
  return fd;
}

bool read_whole(int fd, void* to, size_t nbytes, uint64_t at) {
  auto* bytes = static_cast<std::byte*>(to);
  while (nbytes > 0) {
    const ssize_t got = ::pread(fd, bytes, nbytes, static_cast<off_t>(at));
    if (got <= 0) return false;
    bytes += got;
    at += static_cast<uint64_t>(got);
    nbytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Spool::Spool(const std::string& path, uint64_t limit_nbytes) : limit_(limit_nbytes) {
  must_become_file(path);
  fd_ = open_nameless(path);
}

bool Spool::append(int thread, std::span<const Event> events) noexcept {
  Header header{thread, static_cast<uint32_t>(events.size())};
  const size_t nbytes = sizeof header + events.size_bytes();
  if (nbytes_ + nbytes > limit_) return false;
  iovec parts[] = {{&header, sizeof header}, {const_cast<Event*>(events.data()), events.size_bytes()}};
  // A batch is written as a whole or not at all: what a full disk cut off is overwritten by the next one.
  if (::pwritev(fd_.get(), parts, 2, static_cast<off_t>(nbytes_)) != static_cast<ssize_t>(nbytes)) return false;
  nbytes_ += nbytes;
  return true;
}

void Spool::read(const std::function<void(int, std::span<const Event>)>& take) const {
  std::vector<Event> events;
  for (uint64_t at = 0; at < nbytes_;) {
    Header header{};
    if (!read_whole(fd_.get(), &header, sizeof header, at))
      throw Error("the events of SHMEM_TRACE cannot be read back");
    events.resize(header.events);
    const size_t nbytes = events.size() * sizeof(Event);
    if (!read_whole(fd_.get(), events.data(), nbytes, at + sizeof header))
      throw Error("the events of SHMEM_TRACE cannot be read back");
    take(header.thread, events);
    at += sizeof header + nbytes;
  }
}

}  // namespace railshmem::observe
