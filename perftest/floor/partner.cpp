// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/floor/partner.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace railshmem::perf {
namespace {

constexpr double kStartSeconds = 30;  // opening a fabric provider on a busy machine takes seconds

std::map<std::string, Role>& roles() {
  static std::map<std::string, Role> table;
  return table;
}

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

void nap() {
  const timespec pause{0, 200'000};
  nanosleep(&pause, nullptr);
}

char* map(int fd, size_t nbytes) {
  void* address = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) fail("mmap");
  return static_cast<char*>(address);
}

pid_t spawn(const char* role, int fd) {
  const std::string fd_text = std::to_string(fd);
  const char* argv[] = {"shmem_perf", kPartnerOption, role, fd_text.c_str(), nullptr};
  pid_t child = -1;
  errno = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(argv), environ);
  if (errno != 0) fail("posix_spawn of the floor's helper process");
  return child;
}

/// A launcher may have bound PE 0 to one core, and the helper inherits that; the helper must run on another core.
void leave_parents_cores() {
  cpu_set_t inherited;
  if (sched_getaffinity(0, sizeof inherited, &inherited) != 0) return;
  cpu_set_t others;
  CPU_ZERO(&others);
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < configured && cpu < CPU_SETSIZE; ++cpu)
    if (!CPU_ISSET(cpu, &inherited)) CPU_SET(cpu, &others);
  // Refused where a cpuset owns all other cores: then sharing the core is the best there is.
  if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
}

}  // namespace

Partner::Partner(const char* role, size_t shared_bytes, size_t region_bytes, const std::string& provider)
    : mapped_(kPayloadOffset + shared_bytes) {
  if (provider.size() >= sizeof head_->provider)
    throw std::invalid_argument("provider name '" + provider + "' is too long");
  const int fd = memfd_create("shmem_perf_floor", 0);  // inherited by the helper, hence not close-on-exec
  if (fd < 0) fail("memfd_create");
  try {
    if (ftruncate(fd, static_cast<off_t>(mapped_)) != 0) fail("ftruncate");
    head_ = new (map(fd, mapped_)) SharedHead{};
    head_->nbytes = region_bytes ? region_bytes : shared_bytes;
    memcpy(head_->provider, provider.c_str(), provider.size() + 1);
    child_ = spawn(role, fd);
  } catch (...) {
    close(fd);
    if (head_) munmap(head_, mapped_);
    throw;
  }
  close(fd);
  memset(payload(), 0, shared_bytes);  // pages in place before anything is timed
  try {
    for (double waited = 0; !reached(kReady); waited += 2e-4) {
      if (waited > kStartSeconds) throw std::runtime_error("the floor's helper process does not start");
      nap();
    }
  } catch (...) {
    this->~Partner();
    throw;
  }
}

Partner::~Partner() {
  announce(kQuit);
  constexpr int kNaps = 10000;  // 2 s, then by force
  for (int i = 0; child_ > 0; ++i) {
    if (waitpid(child_, nullptr, WNOHANG) == child_) break;
    if (i == kNaps) kill(child_, SIGKILL);
    nap();
  }
  munmap(head_, mapped_);
}

bool Partner::reached(uint32_t stage) {
  if (head_->child_stage.load(std::memory_order_acquire) >= stage) return true;
  if (child_ > 0 && waitpid(child_, nullptr, WNOHANG) == child_) {
    child_ = -1;
    throw std::runtime_error("the floor's helper process ended early; its message is above");
  }
  return false;
}

RegisterRole::RegisterRole(const char* name, Role role) {
  roles()[name] = role;
}

int partner_main(const char* role, const char* fd_text) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  leave_parents_cores();
  try {
    const auto found = roles().find(role);
    if (found == roles().end()) throw std::runtime_error(std::string("no role ") + role);
    const int fd = atoi(fd_text);
    const off_t nbytes = lseek(fd, 0, SEEK_END);
    if (nbytes <= 0) fail("lseek on the floor's shared memory");
    char* memory = map(fd, static_cast<size_t>(nbytes));
    found->second(*reinterpret_cast<SharedHead*>(memory), memory + kPayloadOffset);
    return EXIT_SUCCESS;
  } catch (const std::exception& e) {
    fprintf(stderr, "shmem_perf: floor helper %s: %s\n", role, e.what());
    return EXIT_FAILURE;
  }
}

}  // namespace railshmem::perf
