// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/fingerprint.h"

#include <sys/stat.h>

#include <string>

#include "src/base/error.h"
#include "src/base/fds.h"

namespace railshmem {
namespace {

/// The number of a namespace of this process.
uint64_t own_namespace(const std::string& file) {
  const std::string call = "stat of " + file;
  struct stat found {};
  check_errno(stat(file.c_str(), &found) == 0, call.c_str());
  return found.st_ino;
}

}  // namespace

uint64_t kernel_id() {
  std::string boot = read_file("/proc/sys/kernel/random/boot_id");
  if (boot.ends_with('\n')) boot.pop_back();
  if (boot.empty()) throw Error("/proc/sys/kernel/random/boot_id cannot be read; is /proc mounted?");
  return fnv1a(boot);
}

uint64_t host_id() {
  const uint64_t kernel = kernel_id();
  return fnv1a(':' + std::to_string(own_namespace("/proc/self/ns/net")), kernel);
}

uint64_t pid_namespace() {
  return own_namespace("/proc/self/ns/pid");
}

}  // namespace railshmem
