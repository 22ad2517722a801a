// SPDX-License-Identifier: BSD-3-Clause
// What all PEs of a job know and strangers do not, and how one end of a connection proves to the other that it knows
// it.
#pragma once

#include "bootstrap/common/pack.h"
#include "bootstrap/tcp/hmac.h"
#include "src/base/env.h"

namespace railshmem::tcp {

/// What both ends of a connection saw. A proof is worth nothing for another one.
struct Encounter {
  uint32_t kind;   ///< of the message that opened it
  uint16_t port;   ///< that was connected to: a process on another port of the host cannot pass a proof on as its own
  Nonce caller;    ///< of the end that connected
  Nonce listener;  ///< of the end that listened
  Bytes claim;     ///< what the caller says about itself
};

enum class End : uint8_t { caller, listener };

class Secret {
 public:
  /// No secret: everybody may join.
  Secret() = default;
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}

  bool empty() const noexcept { return bytes_.empty(); }
  const std::string& bytes() const noexcept { return bytes_; }

  /// What only who knows the secret can compute; the two ends' differ, so that none can be sent back.
  Digest proof(End end, const Encounter& encounter) const;
  bool proven(const Digest& proof, End end, const Encounter& encounter) const;

 private:
  std::string bytes_;
};

/// SHMEM_TCP_SECRET, or the content of SHMEM_TCP_SECRET_FILE. Throws Error when the file cannot be read, is open to
/// others or too short, or when there is a secret and no library that could prove it.
Secret secret_of(const Env& env);

}  // namespace railshmem::tcp
