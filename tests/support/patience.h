// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace railshmem::test {

/// How long tests wait for what usually takes milliseconds. Only a hang takes as long, also where sanitizers and other
/// tests leave a thread a hundredth of a CPU.
inline constexpr std::chrono::seconds kPatience{90};

}  // namespace railshmem::test
