// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ofi/provider_defaults.h"

#include <cstdlib>
#include <string>

#include "src/base/log.h"
#include "src/base/process.h"
#include "transports/ofi/receive_pool.h"

namespace railshmem::ofi {
namespace {

void set_default(const char* name, size_t value) {
  if (const char* theirs = std::getenv(name)) {
    log_info("%s=%s is set: left as it is", name, theirs);
    return;
  }
  const std::string text = std::to_string(value);
  if (setenv(name, text.c_str(), 0) == 0) log_info("%s was not set: using %s", name, text.c_str());
}

}  // namespace

void set_provider_defaults() {
  std::call_once(g_process.provider_defaults, [] {
    // ofi_rxm copies every message through buffers of 16 KiB: 4096 for receiving at each endpoint, and 1024 for sending
    // once it sends, 87 MB in all. Our messages have kMessageBytes; twice that, because it is also what a put copies at
    // once. TCP's own flow control holds back what finds no buffer. It allocates 1024 at a time; half of those are left
    // for messages that are being handled.
    set_default("FI_OFI_RXM_BUFFER_SIZE", 2 * kMessageBytes);
    set_default("FI_OFI_RXM_MSG_RX_SIZE", 512);
    // ofi_rxd sends 128 packets to a peer before it waits, which a socket's buffer of 208 KiB does not hold; what
    // overflows is sent again, and then data gets lost or lands elsewhere (docs/gotchas.md).
    set_default("FI_OFI_RXD_MAX_UNACKED", 8);
  });
}

}  // namespace railshmem::ofi
