// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace railshmem {

/// Constants of the engine that tests vary; users never see them.
struct Tuning {
  /// Unanswered messages per endpoint: bounds the target's answer queue and the acknowledgements in flight.
  size_t max_unanswered = 1024;
  /// Largest put_signal payload that travels inside the message, before the provider's own limit.
  size_t max_inline = 4096;
  /// How long the proxy thread stays away after a waiting host thread stepped the proxy endpoint itself: as long as a
  /// wait usually lasts. When every PE has a core to spare it may compete sooner.
  uint64_t helper_nap_us = 100;
  uint64_t helper_nap_oversubscribed_us = 1000;  // a nap costs up to 17 us of a CPU that the helper needs
  /// How long the host must have been silent before the proxy thread drives the host's endpoint.
  uint64_t host_silence_us = 200;
  /// Only tests set this to false, to prove that they see a signal that overtakes its data.
  bool signal_waits_for_data = true;
};

}  // namespace railshmem
