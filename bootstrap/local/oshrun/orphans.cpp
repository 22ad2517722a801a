// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/orphans.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "bootstrap/common/deadline.h"
#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/base/printable.h"

namespace railshmem::oshrun {
namespace {

std::vector<pid_t> children() {
  std::istringstream list(read_file(text("/proc/self/task/%d/children", static_cast<int>(getpid()))));
  std::vector<pid_t> pids;
  for (pid_t pid; list >> pid;) pids.push_back(pid);
  return pids;
}

std::string name_of(pid_t pid) {
  std::string name = read_file(text("/proc/%d/comm", static_cast<int>(pid)));
  if (name.ends_with('\n')) name.pop_back();  // the kernel's; the name may have others
  return printable(name);
}

}  // namespace

Orphans::Orphans() : before_(children()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::string Orphans::end_all() {
  constexpr double kReapSeconds = 3.0;
  constexpr int kRounds = 16;       // a killed process hands its own children on to us
  constexpr size_t kLongList = 10;  // then the others are only killed
  std::string ended;
  size_t named = 0;
  for (int round = 0; round < kRounds; ++round) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::vector<pid_t> theirs = children();
    std::erase_if(theirs,
                  [this](pid_t pid) { return std::find(before_.begin(), before_.end(), pid) != before_.end(); });
    if (theirs.empty()) break;
    for (const pid_t pid : theirs) {
      if (++named <= kLongList)
        ended += text("%s'%s' (pid %d)", ended.empty() ? "" : ", ", name_of(pid).c_str(), static_cast<int>(pid));
      kill(pid, SIGKILL);
    }
    // One that the kernel does not let go, of a dead file server for instance, is left behind.
    const Deadline enough(kReapSeconds);
    for (const pid_t pid : theirs)
      while (waitpid(pid, nullptr, WNOHANG) == 0 && !enough.passed()) poll(nullptr, 0, 1);
    if (enough.passed()) break;
  }
  if (named > kLongList) ended += text(" and %zu more", named - kLongList);
  return ended;
}

}  // namespace railshmem::oshrun
