// SPDX-License-Identifier: BSD-3-Clause
// A collective call as all PEs must make it: its name and the arguments that must be equal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/check/call_site.h"
#include "src/rma/pe_state.h"

namespace railshmem::check {

/// The arguments are text, because they are only compared and printed: "dest heap+0x1000, nelems 4, PE_root 0".
class CollectiveCall {
 public:
  CollectiveCall(const PeState& state, const char* function) noexcept : state_(state), function_(function) {}

  CollectiveCall& number(const char* argument, long long value) noexcept;
  /// Adds an address by its place in symmetric memory, on which all PEs agree.
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

/// The call that a PE shows to other PEs, in symmetric memory.
struct CallRecord {
  uint64_t number = 0;  ///< of the call, on its team
  int32_t team = 0;     ///< slot
  int32_t reserved = 0;
  std::array<char, 56> function{};
  std::array<char, 192> arguments{};
  CallSite site{};
};

}  // namespace railshmem::check
