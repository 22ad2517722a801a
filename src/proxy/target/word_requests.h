// SPDX-License-Identifier: BSD-3-Clause
// Peers' requests for atomic updates of staged words, from their arrival until they are executed, all at once: a trip
// to a GPU's memory and back takes as long for one word as for many.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/plugin/copier.h"
#include "src/plugin/rail.h"
#include "src/proxy/post/message.h"

namespace railshmem {

struct WordRequest {
  MessageHeader header;
  Endpoint from;
  uint8_t rail;  ///< that it came over
};

/// In the order of arrival. Requests of one source that a fence keeps apart are never here together, since the later
/// one is sent when the earlier is answered; so words may be written in any order.
class WordRequests {
 public:
  bool empty() const noexcept { return n_ == 0; }
  bool full() const noexcept { return n_ == kMost; }
  /// Not when full.
  void add(const WordRequest& request, const WordAmo& amo) noexcept {
    requests_[n_] = request;
    amos_[n_++] = amo;
  }
  /// Executes all, then says done(request, old value) of each; none are left.
  template <class Done>
  void execute(Copier& copier, Done&& done) noexcept {
    copier.amos({amos_.data(), n_});
    for (size_t i = 0; i < n_; ++i) done(requests_[i], amos_[i].old);
    n_ = 0;
  }

 private:
  static constexpr size_t kMost = 64;  // what a turn reaps of one rail

  std::array<WordRequest, kMost> requests_;
  std::array<WordAmo, kMost> amos_;
  size_t n_ = 0;
};

}  // namespace railshmem
