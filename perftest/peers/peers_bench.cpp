// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/peers/peers_bench.h"

#include <malloc.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "src/base/cpu.h"
#include "src/base/env.h"
#include "src/base/error.h"
#include "src/plugin/network.h"
#include "src/proxy/job_nonce.h"
#include "src/proxy/staging/staging_terms.h"
#include "transports/ofi/descriptor.h"

namespace railshmem::perftest {

namespace {

/// Bytes of physical memory of this process, without what the allocator keeps for later.
double resident() {
  malloc_trim(0);
  long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double ms_since(uint64_t start_ns) {
  return static_cast<double>(now_ns() - start_ns) / 1e6;
}

/// Another endpoint of the kind: one of 60000 ports of one of many interfaces.
void make_up(std::vector<std::byte>& address, uint32_t number) {
  sockaddr_in v4{};
  if (address.size() < sizeof v4) throw Error("the bench of peers needs a provider with IP addresses: tcp or net");
  std::memcpy(&v4, address.data(), sizeof v4);
  if (v4.sin_family != AF_INET) throw Error("the bench of peers needs a provider with IPv4 addresses: tcp or net");
  v4.sin_port = htons(static_cast<uint16_t>(1024 + number % 60000));
  v4.sin_addr.s_addr = htonl(0x0a000001u + number / 60000);
  std::memcpy(address.data(), &v4, sizeof v4);
}

}  // namespace

PeersFigures measure_peers(int npes) {
  const Env env = Env::parse([](const char* name) -> const char* { return std::getenv(name); });
  NetworkConfig config{};
  config.env = &env;
  config.npes = npes;
  std::vector<std::byte> heap(size_t{1} << 20);
  const Segment segment{SegmentId::heap, heap.data(), heap.size()};
  PeersFigures figures{};

  double before = resident();
  uint64_t start = now_ns();
  const std::unique_ptr<Network> network = make_network(config);
  const std::vector<std::byte> mine = network->attach({&segment, 1});
  figures.open_ms = ms_since(start);
  figures.open_bytes = resident() - before;
  figures.descriptor_bytes = static_cast<double>(mine.size());

  std::vector<std::vector<std::byte>> descriptors{mine};
  const std::vector<std::byte> own = without_terms(take_nonce_shares(descriptors).descriptors).front();
  uint32_t number = 0;
  for (int pe = 1; pe < npes; ++pe) {
    ofi::NetworkDescriptor descriptor = ofi::decode(own, 0);
    figures.rails = descriptor.rails.size();
    for (ofi::NetworkDescriptor::Rail& rail : descriptor.rails) {
      for (std::vector<std::byte>& address : rail.addresses) make_up(address, number++);
    }
    descriptors.push_back(
        add_nonce_share(add_terms(ofi::encode(descriptor), StagingTerms::of({&segment, 1}, Tuning{})), 0));
  }
  before = resident();
  start = now_ns();
  network->connect(descriptors);
  figures.connect_ms = ms_since(start);
  figures.peer_bytes = (resident() - before) / npes;

  constexpr int kContexts = 8;
  before = resident();
  NetContext* contexts[kContexts];
  for (NetContext*& context : contexts) context = network->make_context();
  figures.context_bytes = (resident() - before) / npes / kContexts;
  for (NetContext* const context : contexts) network->drop_context(context);
  return figures;
}

}  // namespace railshmem::perftest
