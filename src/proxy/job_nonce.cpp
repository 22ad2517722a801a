// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/job_nonce.h"

#include <sys/random.h>

#include <cstring>
#include <utility>

#include "src/base/error.h"

namespace railshmem {

uint64_t random_nonce_share() {
  uint64_t share = 0;
  check_errno(getrandom(&share, sizeof share, 0) == static_cast<ssize_t>(sizeof share), "getrandom");
  return share;
}

std::vector<std::byte> add_nonce_share(std::vector<std::byte> descriptor, uint64_t share) {
  const auto bytes = std::as_bytes(std::span(&share, 1));
  descriptor.insert(descriptor.end(), bytes.begin(), bytes.end());
  return descriptor;
}

JobDescriptors take_nonce_shares(std::span<const std::vector<std::byte>> descriptors) {
  JobDescriptors job{};
  uint64_t all = 0;
  for (size_t pe = 0; pe < descriptors.size(); ++pe) {
    const std::vector<std::byte>& descriptor = descriptors[pe];
    uint64_t share = 0;
    if (descriptor.size() < sizeof share)
      throw Error(text("the network descriptor of PE %zu is cut short; install the same RailSHMEM everywhere", pe));
    std::memcpy(&share, descriptor.data() + descriptor.size() - sizeof share, sizeof share);
    all ^= share;
    job.descriptors.emplace_back(descriptor.begin(), descriptor.end() - sizeof share);
  }
  job.nonce = Nonce::of(all);
  return job;
}

}  // namespace railshmem
