// SPDX-License-Identifier: BSD-3-Clause
// shmem_info: what this build is, what it finds on this machine and which settings are in force. Starts no job.
#include <shmemx.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>
#include <string>

#include "perftest/info/info.h"
#include "railshmem_commit.h"

namespace railshmem::info {
namespace {

struct Wanted {
  bool env = false;
  bool providers = false;
  bool topology = false;
  bool rails = false;
  int pe = 0;
  int npes = 1;
  bool json = false;
};

/// A text of the library's, which `describe` writes into a buffer, without the final newline.
template <class Describe>
std::string described(const Describe& describe) {
  std::string text(describe(nullptr, 0), '\0');
  if (!text.empty()) describe(text.data(), text.size());
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

/// One string a line; empty, after the library's message, where the settings name a NIC that does not exist.
Json rails(const Wanted& wanted) {
  Json lines = Json::array();
  std::istringstream all(described(
      [&](char* buffer, size_t nbytes) { return shmemx_describe_rails(wanted.pe, wanted.npes, buffer, nbytes); }));
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

Json build() {
  return {{"version", SHMEM_VENDOR_STRING},
          {"openshmem", std::to_string(SHMEM_MAJOR_VERSION) + "." + std::to_string(SHMEM_MINOR_VERSION)},
          {"commit", RAILSHMEM_COMMIT},
          {"cuda", RAILSHMEM_WITH_CUDA},
          {"mpi", RAILSHMEM_WITH_MPI},
          {"pmix", RAILSHMEM_WITH_PMIX},
          {"options", shmemx_build_options()}};
}

Json collect(const Wanted& wanted) {
  Json out = build();
  if (wanted.providers) out["fabric"] = providers();
  if (wanted.topology) out["topology"] = topology();
  if (wanted.rails) out["rails"] = rails(wanted);
  if (wanted.env) out["environment"] = described(shmemx_describe_environment);
  return out;
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// One line per entry: "key value, key value".
void print_list(const char* title, const Json& list) {
  printf("%s\n", title);
  for (const Json& entry : list) {
    std::string line;
    for (const auto& [key, value] : entry.items()) line += (line.empty() ? "" : ", ") + key + " " + plain(value);
    printf("  %s\n", line.c_str());
  }
}

void print(const Json& all) {
  printf("%s, OpenSHMEM %s, commit %s\n", plain(all["version"]).c_str(), plain(all["openshmem"]).c_str(),
         plain(all["commit"]).c_str());
  printf("built with: CUDA %s; MPI %s; PMIx %s\nbuild options: %s\n", plain(all["cuda"]).c_str(),
         plain(all["mpi"]).c_str(), plain(all["pmix"]).c_str(), plain(all["options"]).c_str());
  if (all.contains("fabric")) {
    printf("\nlibfabric %s\n", plain(all["fabric"]["libfabric"]).c_str());
    if (all["fabric"].contains("error")) printf("  %s\n", plain(all["fabric"]["error"]).c_str());
    print_list("providers with one-sided operations", all["fabric"]["domains"]);
  }
  if (all.contains("topology")) {
    printf("\ntopology\n");
    for (const auto& [key, value] : all["topology"].items())
      if (!value.is_array()) printf("  %s %s\n", key.c_str(), plain(value).c_str());
    print_list("NUMA nodes", all["topology"]["numa"]);
    print_list("network interfaces", all["topology"]["interfaces"]);
  }
  if (all.contains("rails")) {
    printf("\n");
    for (const Json& line : all["rails"]) printf("%s\n", plain(line).c_str());
  }
  if (all.contains("environment")) {
    printf("\nenvironment\n%s\n", plain(all["environment"]).c_str());
  }
}

int info_main(int argc, char** argv) {
  Wanted wanted;
  CLI::App app("shmem_info: version, build, providers, topology, rails and settings; everything without an option",
               "shmem_info");
  app.add_flag("--env", wanted.env, "The environment variables with the values in force");
  app.add_flag("--providers", wanted.providers, "libfabric and its providers");
  app.add_flag("--topology", wanted.topology, "CPUs, NUMA nodes, network interfaces");
  app.add_flag("--rails", wanted.rails, "The network interfaces that a PE would use, those it would not use, and why");
  app.add_option("--pe", wanted.pe, "For --rails: number of the PE on its host, from 0")->check(CLI::NonNegativeNumber);
  app.add_option("--pes", wanted.npes, "For --rails: PEs on the host, bound as this process is")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", wanted.json, "One JSON object");
  app.set_version_flag("--version", std::string("shmem_info, ") + SHMEM_VENDOR_STRING + ", OpenSHMEM " +
                                        std::to_string(SHMEM_MAJOR_VERSION) + "." +
                                        std::to_string(SHMEM_MINOR_VERSION));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    constexpr int kUsageError = 2;
    return app.exit(e) == 0 ? 0 : kUsageError;
  }
  if (!wanted.env && !wanted.providers && !wanted.topology && !wanted.rails)
    wanted.env = wanted.providers = wanted.topology = wanted.rails = true;
  const Json all = collect(wanted);
  if (wanted.json)
    printf("%s\n", all.dump(2).c_str());
  else
    print(all);
  // Nothing to print is an error that the library has explained.
  return wanted.rails && all["rails"].empty() ? 1 : 0;
}

}  // namespace
}  // namespace railshmem::info

int main(int argc, char** argv) {
  try {
    return railshmem::info::info_main(argc, argv);
  } catch (const std::exception& e) {
    fprintf(stderr, "shmem_info: %s\n", e.what());
    return 1;
  }
}
