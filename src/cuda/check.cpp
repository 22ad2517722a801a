// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/check.h"

#include "src/base/error.h"

namespace railshmem::cuda {

const char* words(const Driver& driver, Result result) noexcept {
  const char* found = nullptr;
  if (driver.error_string(result, &found) != kSuccess || found == nullptr) return "an error unknown to the driver";
  return found;
}

std::string explain(const Driver& driver, Result result) {
  return text("%s (%d)", words(driver, result), result);
}

const char* hint(Result result) noexcept {
  if (result == kCaptureUnsupported) return "; the stream is being captured into a CUDA graph";
  // 700: address; 702: timeout; 710: assert; 714 to 719: what else stops a kernel. All later calls report it.
  if (result == kIllegalAddress || result == 702 || result == 710 || (result >= 714 && result <= kLaunchFailed))
    return "; an earlier kernel of this process may be the cause: run the program under compute-sanitizer";
  return "";
}

void check(const Driver& driver, Result result, const char* what) {
  if (result != kSuccess) throw Error(text("%s failed: %s%s", what, explain(driver, result).c_str(), hint(result)));
}

}  // namespace railshmem::cuda
