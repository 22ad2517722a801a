// SPDX-License-Identifier: BSD-3-Clause
// Messages with a signal between all pairs of PEs, in buffers that are used again as soon as the receiver has compared
// them. A signal too many or too few, data behind its signal and writes that land late all show.
#pragma once

#include <algorithm>
#include <vector>

#include "traffic.h"

namespace rails {

class Messages {
 public:
  Messages(uint64_t seed, Mistakes& mistakes);
  /// One message to `pe` if one of its slots is free.
  void send(Random& random, int pe);
  /// Looks at every slot that others may have filled; compares, and acknowledges some at once, some later.
  void receive(Random& random);
  /// After a barrier, when nothing is on its way: receives the rest, acknowledges all, and tells the receivers how many
  /// there should have been.
  void settle(Random& random);
  /// After another barrier: nothing was lost, no message and no acknowledgement. Nobody may send yet.
  void check();
  unsigned long sent() const { return sent_; }
  unsigned long received() const { return received_; }

 private:
  static constexpr size_t kSlots = 2;  // of every ordered pair of PEs
  static constexpr size_t kSlotBytes = 1 << 20;
  struct Outgoing {
    uint64_t count = 0;      ///< messages so far
    uint64_t completed = 0;  ///< value of quiets_ when the latest was posted; ~0 = its source is free
    char* source = nullptr;
  };
  struct Incoming {
    uint64_t count = 0;  ///< messages compared so far
    bool held = false;   ///< the latest is compared but not acknowledged yet
  };

  size_t slot(int pe, size_t s) const { return static_cast<size_t>(pe) * kSlots + s; }
  /// What message `count` of a slot looks like, known to both sides.
  uint64_t stamp(int from, int to, size_t s, uint64_t count) const;
  static size_t bytes_of(uint64_t stamp);
  static size_t offset_of(uint64_t stamp) { return stamp % 61; }  // mostly not aligned
  void post(Random& random, int pe, size_t s, uint64_t stamp);
  void compare(int from, size_t s, const char* when);
  void acknowledge(Random& random, int from, size_t s);

  const uint64_t seed_;
  Mistakes& mistakes_;
  const int me_, npes_;
  char* data_;         ///< written by others, a slot per sender and s
  uint64_t* signals_;  ///< number of the message that is in the slot
  uint64_t* told_;     ///< written by senders when they settle: number of messages to this slot
  uint64_t* acks_;     ///< written by receivers: number of the message that they have compared
  std::vector<std::vector<char>> private_sources_;
  std::vector<Outgoing> out_;
  std::vector<Incoming> in_;
  uint64_t quiets_ = 0;
  unsigned long sent_ = 0, received_ = 0;
};

}  // namespace rails
