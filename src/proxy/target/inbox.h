// SPDX-License-Identifier: BSD-3-Clause
// The target's memory of its sources' requests: which ones it has executed. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/plugin/rail.h"
#include "src/proxy/post/message.h"

namespace railshmem {

/// Takes 48 bytes per source endpoint; each PE has `ports` endpoints. Where requests can come twice, a source endpoint
/// that fetches takes 2 KiB more.
class Inbox {
 public:
  enum class Arrival : uint8_t { first, repeated, impossible };

  /// `first` is the number of every source's first request, as in Outbox.
  Inbox(int npes, size_t ports, bool requests_may_repeat, uint32_t first = 0)
      : may_repeat_(requests_may_repeat), ports_(ports), sources_(static_cast<size_t>(npes) * ports) {
    for (Source& source : sources_) source.first_missing = first;
  }

  /// What note() would return.
  Arrival look(Endpoint from, uint32_t sequence) const noexcept {
    const Source& source = at(from);
    const uint32_t ahead = sequence - source.first_missing;
    if (ahead >= kWindow) return ahead > ~uint32_t{0} / 2 ? Arrival::repeated : Arrival::impossible;
    return executed(source, sequence) ? Arrival::repeated : Arrival::first;
  }
  /// Notes a request. Only `first` may be executed. `impossible`: no source can have used this number.
  Arrival note(Endpoint from, uint32_t sequence) noexcept {
    const Arrival arrival = look(from, sequence);
    if (arrival != Arrival::first) return arrival;
    Source& source = at(from);
    flip(source, sequence);
    while (executed(source, source.first_missing)) flip(source, source.first_missing++);
    return Arrival::first;
  }

  /// What an acknowledgement says was executed: all requests before first_missing, and later ones by their bits; bit 0
  /// is first_missing + 1.
  struct State {
    uint32_t first_missing;
    uint64_t executed;
  };
  State state(Endpoint from) const noexcept {
    const Source& source = at(from);
    State state{source.first_missing, 0};
    uint64_t any = 0;
    for (const uint64_t word : source.executed) any |= word;
    if (any == 0) return state;  // requests came in order, as nearly always
    for (uint32_t bit = 0; bit < 64; ++bit)
      state.executed |= uint64_t{executed(source, source.first_missing + 1 + bit)} << bit;
    return state;
  }

  /// Says of all kWindow numbers that the source may ask about whether they were executed; bit 0 is first_missing.
  void account(Endpoint from, AccountMessage& account) const noexcept {
    const Source& source = at(from);
    account.header.sequence = source.first_missing;
    for (uint32_t i = 0; i < kWindow; ++i)
      account.executed[i / 64] |= uint64_t{executed(source, source.first_missing + i)} << (i % 64);
  }

  /// Keeps the value that a fetching request brought, for a repetition of the request. The value stays until its source
  /// uses the number modulo kWindow again, which happens only after the source has had the answer.
  void keep_value(Endpoint from, uint32_t sequence, uint64_t value) noexcept {
    if (!may_repeat_) return;
    auto& values = at(from).values;
    if (!values) values = std::make_unique<uint64_t[]>(kWindow);  // once per source that fetches
    values[sequence % kWindow] = value;
  }
  uint64_t value(Endpoint from, uint32_t sequence) const noexcept {
    const auto& values = at(from).values;
    return values ? values[sequence % kWindow] : 0;
  }

 private:
  struct Source {
    uint32_t first_missing = 0;
    std::array<uint64_t, kWindow / 64> executed{};  ///< by number modulo kWindow
    std::unique_ptr<uint64_t[]> values;
  };
  static bool executed(const Source& source, uint32_t sequence) noexcept {
    return (source.executed[sequence % kWindow / 64] >> (sequence % 64)) & 1;
  }
  static void flip(Source& source, uint32_t sequence) noexcept {
    source.executed[sequence % kWindow / 64] ^= uint64_t{1} << (sequence % 64);
  }
  Source& at(Endpoint of) noexcept { return sources_[index_of(of, ports_)]; }
  const Source& at(Endpoint of) const noexcept { return sources_[index_of(of, ports_)]; }

  const bool may_repeat_;
  const size_t ports_;
  std::vector<Source> sources_;
};

}  // namespace railshmem
