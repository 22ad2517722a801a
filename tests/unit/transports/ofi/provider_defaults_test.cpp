// SPDX-License-Identifier: BSD-3-Clause
// What is set for providers that take their queue sizes from the environment only.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "transports/ofi/provider_defaults.h"
#include "transports/ofi/receive_pool.h"

namespace railshmem::ofi {
namespace {

/// Calls it in a process of its own, because it acts once per process; its exit status tells.
TEST(ProviderDefaults, SetWhatTheUserHasNotSetAndNothingElse) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        unsetenv("FI_OFI_RXM_BUFFER_SIZE");
        setenv("FI_OFI_RXM_MSG_RX_SIZE", "77", 1);
        set_provider_defaults();
        const char* size = std::getenv("FI_OFI_RXM_BUFFER_SIZE");
        const bool set = size && size == std::to_string(2 * kMessageBytes);
        const bool kept = std::getenv("FI_OFI_RXM_MSG_RX_SIZE") == std::string("77");
        unsetenv("FI_OFI_RXM_BUFFER_SIZE");
        set_provider_defaults();
        _exit(set && kept && !std::getenv("FI_OFI_RXM_BUFFER_SIZE") ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace railshmem::ofi
