// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/options.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "src/base/error.h"

namespace railshmem::oshrun {
namespace {

constexpr int kUsageStatus = 2;  // as getopt-based tools and shells use for a wrong command line

std::pair<std::string, std::string> assignment(const std::string& entry) {
  const size_t equal = entry.find('=');
  if (equal == 0 || equal == std::string::npos)
    throw Error(text("-x %s: accepted is NAME=VALUE (the environment of oshrun is passed on anyway)", entry.c_str()));
  return {entry.substr(0, equal), entry.substr(equal + 1)};
}

}  // namespace

Parsed parse_options(int argc, const char* const* argv) {
  Parsed parsed;
  Options& options = parsed.options;
  std::vector<std::string> entries;
  CLI::App app("Starts N PEs of an OpenSHMEM program on this host.", "oshrun");
  app.prefix_command();
  app.add_option("-n,--np", options.npes, "Number of PEs")->required()->check(CLI::Range(1, 1 << 20));
  app.add_flag("--tag-output", options.tag_output, "Prefix every line of output with [pe]");
  app.add_option("--timeout", options.timeout_s, "End the job after this many seconds with status 124")
      ->check(CLI::PositiveNumber);
  app.add_option("-x,--env", entries, "Set NAME=VALUE for the PEs; may be repeated")->allow_extra_args(false);
  app.footer("Usage: oshrun -n N [options] [--] program [arguments]");
  try {
    app.parse(argc, argv);
    options.command = app.remaining();
    if (!options.command.empty() && options.command.front() == "--") {
      options.command.erase(options.command.begin());
    } else if (!options.command.empty() && options.command.front().front() == '-') {
      throw Error(text("unknown option %s; see oshrun --help", options.command.front().c_str()));
    }
    if (options.command.empty()) throw Error("which program? usage: oshrun -n N [options] [--] program [arguments]");
    for (const std::string& entry : entries) options.environment.push_back(assignment(entry));
  } catch (const CLI::ParseError& e) {
    std::ostringstream out;
    parsed.exit_status = app.exit(e, out, out) == 0 ? 0 : kUsageStatus;
    parsed.message = out.str();
  } catch (const Error& e) {
    parsed.exit_status = kUsageStatus;
    parsed.message = std::string("oshrun: ") + e.what() + "\n";
  }
  return parsed;
}

}  // namespace railshmem::oshrun
