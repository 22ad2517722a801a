// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace railshmem {

/// Constants of the engine that tests vary; users never see them.
struct Tuning {
  /// Largest put_signal payload that travels inside the message, before the provider's own limit.
  size_t max_inline = 4096;
  /// How long the proxy thread stays away after a waiting host thread stepped the proxy endpoint itself: as long as a
  /// wait usually lasts. The shorter time holds where every PE has a core to spare.
  uint64_t helper_nap_us = 100;
  uint64_t helper_nap_oversubscribed_us = 1000;  // a nap costs up to 17 us of a CPU that the helper needs
  /// How long the host must have been silent before the proxy thread drives the host's endpoint.
  uint64_t host_silence_us = 200;
  /// Puts and gets from this size on go over all rails (SHMEM_OFI_STRIPE_MIN).
  size_t stripe_min = size_t{128} << 10;
  /// Striped operations take only the first so many rails, and leave the others to short operations; 0: all rails
  /// (SHMEM_OFI_STRIPE_RAILS).
  size_t stripe_rails = 0;
  /// A striped operation is cut so that every rail gets several pieces, within these bounds. A shorter piece costs more
  /// than it moves. A longer piece leaves rails idle at the end, and hides for long that a rail has died.
  size_t shortest_piece = size_t{64} << 10;
  size_t longest_piece = size_t{1} << 20;
  /// Bytes of pieces in flight per rail: as many as the rail moves in `rail_window_ns`, as measured, and at most
  /// `rail_window`, which covers 400 Gb/s for 40 us. Pieces not in flight can still take another rail, and a short
  /// operation waits no longer than this.
  size_t rail_window = size_t{2} << 20;
  uint64_t rail_window_ns = 4'000'000;
  /// Time without completions after which a path with pending work is dead, if another path to its PE answers
  /// (SHMEM_RAIL_TIMEOUT).
  uint64_t rail_timeout_ns = 500'000'000;
  /// Time after which a PE that no path reaches is lost (SHMEM_TIMEOUT).
  uint64_t unreachable_ns = 20'000'000'000;
  /// How long packets of a closed rail may still be under way: two full queues of a cheap switch, 50 ms each, and a
  /// margin.
  uint64_t quarantine_ns = 150'000'000;
  /// Bytes of a bounce slot, and so of a piece of a staged put or get (SHMEM_STAGING_CHUNK); slots per rail
  /// (SHMEM_STAGING_DEPTH).
  size_t staging_chunk = size_t{1} << 20;
  size_t staging_depth = 8;
  /// Messages carry checksums, and data travels in messages (SHMEM_CHECK_DATA).
  bool checks_data = false;
  /// Only tests set this to false, to prove that they see a signal that overtakes its data.
  bool keeps_order = true;
};

}  // namespace railshmem
