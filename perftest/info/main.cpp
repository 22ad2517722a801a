// SPDX-License-Identifier: BSD-3-Clause
// shmem_info: what this build is, what it finds on this machine and which settings are in force. Starts no job.
#include <shmem.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "perftest/info/info.h"

// Weak: a library without these extensions still links, and is then described without them.
extern "C" {
[[gnu::weak]] size_t shmemx_describe_environment(char* buffer, size_t nbytes);
[[gnu::weak]] const char* shmemx_build_options(void);
}

namespace railshmem::info {
namespace {

struct Wanted {
  bool env = false;
  bool providers = false;
  bool topology = false;
  bool json = false;
};

std::string environment_table() {
  if (!shmemx_describe_environment) return "";
  std::string text(shmemx_describe_environment(nullptr, 0), '\0');
  shmemx_describe_environment(text.data(), text.size());
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

Json build() {
  return {{"version", SHMEM_VENDOR_STRING},
          {"openshmem", std::to_string(SHMEM_MAJOR_VERSION) + "." + std::to_string(SHMEM_MINOR_VERSION)},
          {"options", shmemx_build_options ? shmemx_build_options() : "unknown"}};
}

Json collect(const Wanted& wanted) {
  Json out = build();
  if (wanted.providers) out["fabric"] = providers();
  if (wanted.topology) out["topology"] = topology();
  if (wanted.env) out["environment"] = environment_table();
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
  printf("%s, OpenSHMEM %s\nbuild options: %s\n", plain(all["version"]).c_str(), plain(all["openshmem"]).c_str(),
         plain(all["options"]).c_str());
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
  if (all.contains("environment")) {
    const std::string table = plain(all["environment"]);
    printf("\nenvironment\n%s\n", table.empty() ? "  this library has no table of its variables" : table.c_str());
  }
}

int info_main(int argc, char** argv) {
  Wanted wanted;
  CLI::App app("shmem_info: version, build, providers, topology and settings; everything without an option",
               "shmem_info");
  app.add_flag("--env", wanted.env, "The environment variables with the values in force");
  app.add_flag("--providers", wanted.providers, "libfabric and its providers");
  app.add_flag("--topology", wanted.topology, "CPUs, NUMA nodes, network interfaces");
  app.add_flag("--json", wanted.json, "One JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    constexpr int kUsageError = 2;
    return app.exit(e) == 0 ? 0 : kUsageError;
  }
  if (!wanted.env && !wanted.providers && !wanted.topology) wanted.env = wanted.providers = wanted.topology = true;
  const Json all = collect(wanted);
  if (wanted.json)
    printf("%s\n", all.dump(2).c_str());
  else
    print(all);
  return 0;
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
