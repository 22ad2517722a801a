// SPDX-License-Identifier: BSD-3-Clause
#include "src/globals/shared_data.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/base/memory_file.h"
#include "src/globals/fork_guard.h"
#include "src/globals/page_mover.h"
#include "src/globals/thread_park.h"

namespace railshmem {
namespace {

constexpr int kForkAttempts = 1000;  // of 0.2 ms: a fork of a large process takes tens of milliseconds

SharedData refuse(std::string why) {
  return {UniqueFd(), std::move(why)};
}

/// Empty when the whole range is ordinary private memory with the protection that it should have.
std::string look_for_foreign_pages(const DataSegment& segment) {
  std::istringstream maps(read_file("/proc/self/maps"));
  auto expected = reinterpret_cast<uintptr_t>(segment.base);
  const uintptr_t end = expected + segment.nbytes;
  const std::string wanted = (segment.protection & PROT_EXEC) != 0 ? "rwxp" : "rw-p";
  std::string line;
  while (expected < end && std::getline(maps, line)) {
    std::istringstream fields(line);
    uintptr_t from = 0;
    uintptr_t to = 0;
    char dash = 0;
    std::string access;
    fields >> std::hex >> from >> dash >> to >> access;
    if (to <= expected) continue;
    if (from > expected) break;
    if (access != wanted)
      return text("the executable's data at %#zx is mapped %s, expected %s", static_cast<size_t>(from), access.c_str(),
                  wanted.c_str());
    expected = to;
  }
  return expected >= end ? "" : "the executable's data is not mapped as its program headers say (is /proc mounted?)";
}

std::string unfit(const DataSegment& segment) {
  if (segment.nbytes == 0) return "the executable has no global objects";
  if (segment.static_executable) return "the executable is linked statically, libc's own objects are among the globals";
  if (segment.ranges != 1) return text("the executable's data is in %d separate pieces", segment.ranges);
  return look_for_foreign_pages(segment);
}

PageRange range_of(const DataSegment& segment, int fd) {
  return PageRange{segment.base, segment.nbytes, segment.initialised_nbytes, segment.protection, fd};
}

/// Holds the other threads at a moment when none of them forks; empty, or why not.
std::string park_outside_fork(ThreadPark& threads) {
  for (int attempt = 0; attempt < kForkAttempts; ++attempt) {
    if (!threads.park()) return threads.reason();
    if (!fork_in_progress()) return "";
    threads.release();
    usleep(100);
  }
  return "another thread forks all the time";
}

}  // namespace

SharedData share_data_segment(const DataSegment& segment) {
  if (const int fd = guarded_range().fd; fd >= 0) {
    UniqueFd again(fcntl(fd, F_DUPFD_CLOEXEC, 3));
    check_errno(static_cast<bool>(again), "dup of the shared data segment");
    return {std::move(again), ""};
  }
  if (std::string why = unfit(segment); !why.empty()) return refuse(std::move(why));
  UniqueFd memory = create_memory_file("railshmem-data", segment.nbytes);
  if (!memory)
    return refuse(text("no shared memory for %zu bytes of globals: %s", segment.nbytes, std::strerror(errno)));
  UniqueFd kept(fcntl(memory.get(), F_DUPFD_CLOEXEC, 3));
  if (!kept) return refuse(text("no file descriptor left: %s", std::strerror(errno)));
  const UniqueFd pagemap(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!fork_guard_installed()) return refuse("pthread_atfork failed when the library was loaded");
  const PageRange range = range_of(segment, kept.get());
  ThreadPark threads;
  if (std::string why = park_outside_fork(threads); !why.empty()) return refuse(std::move(why));
  const int failed = move_to_file(range, pagemap.get());
  if (failed == 0) guard_range(range);  // before anybody runs on and forks
  threads.release();
  if (failed != 0) return refuse(text("cannot move %zu bytes of globals: %s", range.nbytes, std::strerror(failed)));
  kept.release();  // the guard's now
  return {std::move(memory), ""};
}

bool unshare_data_segment(std::string* why) {
  const PageRange range = guarded_range();
  if (range.fd < 0) return true;
  ThreadPark threads;
  if (std::string refusal = park_outside_fork(threads); !refusal.empty()) {
    if (why != nullptr) *why = std::move(refusal);
    return false;
  }
  const int failed = move_to_private(range);
  if (failed == 0) guard_range(PageRange{});
  threads.release();
  if (failed == 0) close(range.fd);
  if (failed != 0 && why != nullptr) *why = text("cannot move the globals back: %s", std::strerror(failed));
  return failed == 0;
}

}  // namespace railshmem
