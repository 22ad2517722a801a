// SPDX-License-Identifier: BSD-3-Clause
// Copies by the CPU: for host memory that only pretends to be out of the rails' reach.
#pragma once

#include <cstring>

#include "src/plugin/copier.h"
#include "src/plugin/execute.h"

namespace railshmem {

class HostCopier : public Copier {
 public:
  Ticket start(std::byte* to, const std::byte* from, size_t nbytes) noexcept override {
    copy(to, from, nbytes);
    return 0;
  }
  Ticket start_then_set(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word,
                        uint64_t value) noexcept override {
    copy(to, from, nbytes);
    execute_signal(reinterpret_cast<uint64_t*>(word), SignalOp::set, value);
    return 0;
  }
  bool finished(Ticket) noexcept override { return true; }
  bool alone_reaches(const std::byte*) noexcept override { return false; }
  void amos(std::span<WordAmo> amos) noexcept override {
    for (WordAmo& amo : amos) amo.execute_on(amo.word);
  }

 protected:
  /// Words are whole on both sides: others may change or poll them.
  static void copy(std::byte* to, const std::byte* from, size_t nbytes) noexcept {
    if (nbytes != 4 && nbytes != 8) {
      std::memcpy(to, from, nbytes);
      return;
    }
    std::byte word[8];
    read_whole(word, from, nbytes);
    copy_whole(to, word, nbytes);
  }
};

}  // namespace railshmem
