// SPDX-License-Identifier: BSD-3-Clause
// What a relay says, checked before oshrun acts on it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "bootstrap/common/stream.h"

namespace railshmem::oshrun {

/// A message of a relay taken apart. Fields that its kind does not have are as they are here.
struct RelayMessage {
  uint32_t kind = 0;                       ///< of relay::Kind
  int pe = -1;                             ///< from_pe, output, exited: a PE of that host
  int number = 0;                          ///< output: the descriptor; exited: the wait status; failed: the status
  pid_t pid = -1;                          ///< exited
  std::string text = {};                   ///< ready: the version; failed, note
  Frame message = {};                      ///< from_pe
  std::span<const std::byte> output = {};  ///< of the frame that was read
};

/// Follows the messages of the relay that has the PEs from `first` on, `count` of them.
class RelayTalk {
 public:
  RelayTalk(int first, int count) : first_(first), ended_(static_cast<size_t>(count)) {}

  /// Throws Error where no relay of ours would say this, or not now: before it is ready, twice, or of a PE that is not
  /// there or has ended.
  RelayMessage read(const Frame& frame);

 private:
  void read_pe(Unpacker& fields, RelayMessage& message);
  void must_be_in_turn(uint32_t kind);

  int first_;
  bool ready_ = false;
  std::vector<bool> ended_;  ///< PEs, by their place among those of the host
};

}  // namespace railshmem::oshrun
