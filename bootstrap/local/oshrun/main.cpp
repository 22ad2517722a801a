// SPDX-License-Identifier: BSD-3-Clause
// oshrun: starts the PEs of a program on this host, connects them and ends them together.
#include <cstdio>
#include <exception>

#include "bootstrap/local/oshrun/job.h"
#include "bootstrap/local/oshrun/say.h"

int main(int argc, char** argv) {
  using namespace railshmem::oshrun;
  Parsed parsed = parse_options(argc, argv);
  if (!parsed.message.empty()) {
    std::fputs(parsed.message.c_str(), parsed.exit_status == 0 ? stdout : stderr);
    return parsed.exit_status;
  }
  try {
    return Job(std::move(parsed.options)).run();
  } catch (const std::exception& e) {
    say("%s", e.what());
    return 1;
  }
}
