// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/system_limits.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "src/base/error.h"

namespace railshmem {
namespace {

struct Limit {
  __rlimit_resource resource;
  const char* what;
  const char* option;  ///< of the shell's ulimit
};

constexpr Limit kDescriptors = {RLIMIT_NOFILE, "descriptors", "-n"};
constexpr Limit kFileSize = {RLIMIT_FSIZE, "file sizes in bytes", "-f"};
constexpr Limit kAddresses = {RLIMIT_AS, "virtual memory in bytes", "-v"};
constexpr Limit kData = {RLIMIT_DATA, "data in bytes", "-d"};
constexpr Limit kLocked = {RLIMIT_MEMLOCK, "locked memory in bytes", "-l"};
constexpr Limit kTasks = {RLIMIT_NPROC, "processes and threads of this user", "-u"};

/// Empty where there is no such limit.
std::string limit_text(const Limit& limit) {
  rlimit value{};
  if (getrlimit(limit.resource, &value) != 0 || value.rlim_cur == RLIM_INFINITY) return {};
  return text("; the limit on %s is %llu: raise it (ulimit %s)", limit.what,
              static_cast<unsigned long long>(value.rlim_cur), limit.option);
}

/// Few enough that a call which opens several may have failed for want of one more.
bool few_descriptors_left() {
  constexpr rlim_t kFew = 16;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  rlim_t free = 0;
  for (rlim_t fd = 0; fd < limit.rlim_cur && free < kFew; ++fd)
    if (fcntl(static_cast<int>(fd), F_GETFD) < 0) ++free;
  return free < kFew;
}

}  // namespace

std::string memory_limits() {
  return limit_text(kAddresses) + limit_text(kData);
}

std::string limits_behind(int error) {
  if (error == EMFILE) return limit_text(kDescriptors);
  // libfabric's sockets report a lack of descriptors as EIO; a connection that accept() refuses times out.
  if ((error == EIO || error == ETIMEDOUT) && few_descriptors_left())
    return "; few descriptors are left" + limit_text(kDescriptors);
  if (error == EFBIG) return limit_text(kFileSize);
  if (error == ENOMEM) return memory_limits() + limit_text(kLocked);
  return {};
}

std::string refusal_text(int error) {
  return std::strerror(error) + limits_behind(error);
}

std::string task_refusal_text(int error) {
  const std::string reason = std::strerror(error);
  if (error == EAGAIN || error == ENOMEM)  // pthread_create gives EAGAIN for a lack of memory too
    return reason + limit_text(kTasks) + memory_limits() + "; a control group may have a limit too (pids.max)";
  return reason + "; a filter of system calls, as containers have, refuses it: allow clone and clone3";
}

std::string explain(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) == nullptr) return e.what();
  return "malloc failed: the system has no memory left for this process" + memory_limits();
}

}  // namespace railshmem
