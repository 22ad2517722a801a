// SPDX-License-Identifier: BSD-3-Clause
#include "src/topology/host_id.h"

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "src/base/error.h"

namespace railshmem {

uint64_t host_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string identity;
  std::getline(file, identity);
  if (identity.empty()) throw Error("/proc/sys/kernel/random/boot_id cannot be read; is /proc mounted?");
  struct stat net {};
  check_errno(stat("/proc/self/ns/net", &net) == 0, "stat of /proc/self/ns/net");
  identity += ':' + std::to_string(net.st_ino);
  // FNV-1a, because std::hash may differ between the PEs' standard libraries.
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : identity) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace railshmem
