// SPDX-License-Identifier: BSD-3-Clause
// Values of environment variables: all of the table at once, and the grammars that read them further.
#include "src/base/env.h"

#include <map>

#include "src/base/error.h"
#include "src/base/printable.h"
#include "src/plan/choice.h"
#include "tests/fuzz/fuzz.h"
#ifdef RAILSHMEM_HAVE_OFI
#include "transports/ofi/nic_names.h"
#endif

namespace railshmem {
namespace {

using fuzz::must;

/// Lines "NAME=value"; a line without a name of ours sets the variable whose number its first byte is.
std::map<std::string, std::string> variables_of(fuzz::Input input) {
  std::map<std::string, std::string> variables;
  while (!input.empty()) {
    std::string line = input.line();
    line = line.substr(0, line.find('\0'));
    const size_t equal = line.find('=');
    if (line.rfind("S", 0) == 0 && equal != std::string::npos)
      variables[line.substr(0, equal)] = line.substr(equal + 1);
    else if (!line.empty())
      variables[env_rows()[static_cast<uint8_t>(line[0]) % env_rows().size()].name] = line.substr(1);
  }
  return variables;
}

void read_further(const Env& env) {
  try {
    const Choice choice(env.collectives);
    for (const size_t nbytes : {size_t{0}, size_t{1}, size_t{4096}, ~size_t{0}})
      (void)choice.pick(Collective::broadcast, Reach::network, nbytes, 3);
  } catch (const Error&) {
  }
#ifdef RAILSHMEM_HAVE_OFI
  try {
    const ofi::NicNames names = ofi::parse_nic_names(env.ofi_nics);
    must(names.kind == ofi::NicNames::Kind::any || !names.list(7).empty(), "a list of NICs names one");
  } catch (const Error&) {
  }
#endif
}

void check(const std::map<std::string, std::string>& variables, bool shows) {
  const Env::Lookup lookup = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  if (shows) {  // takes longer than all else
    std::vector<std::string> environment;
    for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
    (void)unknown_names(environment);
    must(!describe_env(lookup).empty(), "the table can always be shown");
  }
  try {
    const Env env = Env::parse(lookup);
    must(env.symmetric_size == kAutomaticSize || env.symmetric_size < uint64_t{1} << 63, "sizes are below 2^63");
    must(env.tcp_secret.empty() || env.tcp_secret.size() >= kShortestSecret, "secrets are not short");
    read_further(env);
  } catch (const Error& e) {
    const std::string what = e.what();
    must(what.rfind("SHMEM_", 0) == 0 || what.rfind("SMA_", 0) == 0, "an error names the variable");
    const std::string secret = lookup("SHMEM_TCP_SECRET") ? lookup("SHMEM_TCP_SECRET") : "";
    must(secret.size() < 4 || what.rfind("SHMEM_TCP_SECRET ", 0) != 0 || what.find("'" + secret) == std::string::npos,
         "no message holds a secret");
  }
}

std::vector<fuzz::Data> seeds() {
  return {fuzz::seed(" SHMEM_SYMMETRIC_SIZE=1.5g\nSHMEM_DEBUG=info\nSMA_VERSION=1\n"),
          fuzz::seed(" SHMEM_TRANSPORT=p2p,ofi,loopback\nSHMEM_OFI_NICS=mlx5_0,mlx5_1;mlx5_2,mlx5_3\n"),
          fuzz::seed("#SHMEM_OFI_NICS=^eth0,docker0\nSHMEM_PROXY_AFFINITY=0,4-7;3\nSHMEM_TIMEOUT=0.5\n"),
          fuzz::seed(" SHMEM_COLLECTIVES=broadcast=tree,reduce=chunks\nSHMEM_BOOTSTRAP=tcp\nSHMEM_FLUSH=write_read\n"),
          fuzz::seed(" SHMEM_TCP_SECRET=0123456789abcdef0123\nSHMEM_TEAMS_MAX=4\nSHMEM_TIMOUT=3\n"),
          fuzz::seed("#SHMEM_HEAP_KIND=device\nSHMEM_HUGE_PAGES=on\nSHMEM_DATA_SEGMENT=off\nSHMEM_OFI_HMEM=dmabuf\n")};
}

}  // namespace
}  // namespace railshmem

RAILSHMEM_FUZZ(environment, railshmem::seeds) {
  const bool shows = input.u8() == '#';
  railshmem::check(railshmem::variables_of(input), shows);
}
