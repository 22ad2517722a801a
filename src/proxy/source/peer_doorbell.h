// SPDX-License-Identifier: BSD-3-Clause
// Keeps the proxy thread of a target awake where arriving data wakes nobody and leaves no event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/base/cpu.h"
#include "src/proxy/source/initiator.h"

namespace railshmem {

/// A target in naps would not know of a stream of puts, so a message that changes nothing goes with it now and then.
template <Rail R>
class PeerDoorbell {
 public:
  /// `needed`: no rail has a descriptor that arriving data makes readable.
  PeerDoorbell(Initiator<R>& initiator, bool needed) noexcept : initiator_(initiator), needed_(needed) {}

  /// Before every attempt to post to `pe`.
  void ring(int pe) noexcept {
    if (needed_) send(pe);
  }

 private:
  static constexpr uint64_t kEveryUs = 200;  // ProxyLoop looks for longer than that
  struct Last {
    int pe = -1;
    uint64_t at = 0;
  };

  void send(int pe) noexcept {
    Last& last = last_[static_cast<size_t>(pe) % last_.size()];
    const uint64_t now = rough_clock();
    if (last.pe == pe && now - last.at < kEveryUs * kRoughTicksPerUs) [[likely]]
      return;
    // Over shm every operation is refused until the target has looked at the one before, so this one is too, mostly.
    if (initiator_.flag({pe, SegmentId::heap, 0}, 0) != Post::again) last = {pe, now};
  }

  Initiator<R>& initiator_;
  const bool needed_;
  std::array<Last, 64> last_{};  ///< by PE modulo its size
};

}  // namespace railshmem
