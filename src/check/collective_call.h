// SPDX-License-Identifier: BSD-3-Clause
// A collective call as the other PEs must make it too: its name and those arguments that have to be equal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/check/call_site.h"
#include "src/rma/pe_state.h"

namespace railshmem::check {

/// Text, because it is compared and printed, nothing else: "dest heap+0x1000, nelems 4, PE_root 0".
class CollectiveCall {
 public:
  CollectiveCall(const PeState& state, const char* function) noexcept : state_(state), function_(function) {}

  CollectiveCall& number(const char* argument, long long value) noexcept;
  /// By its place in symmetric memory, which is the same on every PE.
  CollectiveCall& address(const char* argument, const void* address) noexcept;

  const char* function() const noexcept { return function_; }
  const char* arguments() const noexcept { return text_.data(); }

 private:
  void add(const char* argument, const char* value) noexcept;

  const PeState& state_;
  const char* function_;
  std::array<char, 192> text_{};
  size_t used_ = 0;
};

/// What a PE shows to others, in symmetric memory.
struct CallRecord {
  uint64_t number = 0;  ///< of the call, on its team
  int32_t team = 0;     ///< slot
  int32_t reserved = 0;
  std::array<char, 56> function{};
  std::array<char, 192> arguments{};
  CallSite site{};
};

}  // namespace railshmem::check
