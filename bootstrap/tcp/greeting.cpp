// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/greeting.h"

#include <poll.h>

#include "bootstrap/tcp/random_bytes.h"

namespace railshmem::tcp {

std::optional<Frame> next_frame(Stream& stream, Deadline deadline) {
  for (;;) {
    stream.pump();
    if (auto frame = stream.pop()) return frame;
    if (!stream.open() || deadline.passed()) return std::nullopt;
    pollfd wait{stream.fd(), static_cast<short>(POLLIN | (stream.has_output() ? POLLOUT : 0)), 0};
    poll(&wait, 1, deadline.slice_ms(1000));
  }
}

Reception introduce(Stream& stream, int port, uint32_t kind, Bytes claim, const Secret& secret, Deadline deadline) {
  constexpr uint64_t kLargestAnswer = 1 << 16;  // a refusal may name many PEs and addresses
  stream.distrust(kLargestAnswer);
  Encounter encounter{kind, static_cast<uint16_t>(port), random_bytes<Nonce>(), {}, std::move(claim)};
  const Want want = secret.empty() ? Want::nothing : Want::proof;
  stream.push(kind, Packer().add(encounter.caller).add(want).add_bytes(encounter.claim).take());
  auto answer = next_frame(stream, deadline);
  if (answer && answer->kind == challenge && answer->payload.size() == sizeof(Nonce)) {
    if (secret.empty()) return Reception::asks_secret;
    encounter.listener = Unpacker(answer->payload).get<Nonce>();
    stream.push(proof, Packer().add(secret.proof(End::caller, encounter)).take());
    answer = next_frame(stream, deadline);
    if (answer && answer->kind == denied) return Reception::denies_ours;
    if (!answer || answer->kind != noticed) return Reception::silence;
    const bool known = answer->payload.size() == sizeof(Digest) &&
                       secret.proven(Unpacker(answer->payload).get<Digest>(), End::listener, encounter);
    return known ? Reception::welcome : Reception::lacks_secret;
  }
  if (!answer || answer->kind != noticed) return Reception::silence;
  return secret.empty() ? Reception::welcome : Reception::lacks_secret;
}

const char* explain(Reception reception) noexcept {
  switch (reception) {
    case Reception::welcome:
      return "it answers";
    case Reception::silence:
      return "it is held by some other program";
    case Reception::asks_secret:
      return "it asks for a secret, and this PE has none; set SHMEM_TCP_SECRET or SHMEM_TCP_SECRET_FILE on all PEs as "
             "on PE 0";
    case Reception::denies_ours:
      return "it has another secret than this PE; set SHMEM_TCP_SECRET or SHMEM_TCP_SECRET_FILE to one value on all "
             "PEs, and let no program between them forward the connection to another port";
    case Reception::lacks_secret:
      return "it does not know this PE's secret; set SHMEM_TCP_SECRET or SHMEM_TCP_SECRET_FILE to one value on all PEs";
  }
  return "?";
}

}  // namespace railshmem::tcp
