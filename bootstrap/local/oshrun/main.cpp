// SPDX-License-Identifier: BSD-3-Clause
// oshrun: starts the PEs of a program on one or several hosts, connects them and ends them together.
#include <cstdio>
#include <exception>
#include <string_view>

#include "bootstrap/local/oshrun/job.h"
#include "bootstrap/local/oshrun/relay.h"
#include "bootstrap/local/oshrun/relay_protocol.h"
#include "bootstrap/local/oshrun/say.h"

#include "src/base/fds.h"
#include "src/base/shm_files.h"

int main(int argc, char** argv) {
  using namespace railshmem::oshrun;
  const railshmem::StandardPlaceholders placeholders;  // before any other descriptor
  try {
    if (argc == 2 && std::string_view(argv[1]) == relay::kOption) return Relay().run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());  // oshrun puts its prefix and the host before it
    return 1;
  }
  Parsed parsed = parse_options(argc, argv);
  if (!parsed.message.empty()) {
    std::fputs(parsed.message.c_str(), parsed.exit_status == 0 ? stdout : stderr);
    return parsed.exit_status;
  }
  if (parsed.options.clean) {
    std::printf("files removed in /dev/shm: %d\n", railshmem::sweep_shm_files());
    return 0;
  }
  try {
    return Job(std::move(parsed.options)).run();
  } catch (const std::exception& e) {
    say("%s", e.what());
    return 1;
  }
}
