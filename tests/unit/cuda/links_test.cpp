// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/links.h"

#include <gtest/gtest.h>

#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem::cuda {
namespace {

TEST(Links, AGpuIsConnectedToItselfAndToOthers) {
  FakeDriver fake({.devices = 3, .apart = {{0, 2}}});
  const DeviceContext gpu = DeviceContext::primary(fake.driver(), 0);
  EXPECT_EQ(link_to(gpu, gpu.uuid()).kind, LinkKind::same);
  EXPECT_EQ(link_to(gpu, describe_device(fake.driver(), 1).uuid).kind, LinkKind::nvlink);
  EXPECT_EQ(link_to(gpu, describe_device(fake.driver(), 2).uuid).kind, LinkKind::pcie) << "it does not reach it";
  EXPECT_EQ(link_to(gpu, Uuid{}).kind, LinkKind::pcie) << "a GPU that is not visible here";
}

TEST(Links, TheSystemsWordsBecomeASpeed) {
  EXPECT_NEAR(pcie_bytes_per_second("32.0 GT/s PCIe", "16"), 63.0e9, 0.1e9);
  EXPECT_NEAR(pcie_bytes_per_second("16.0 GT/s PCIe", "8"), 15.75e9, 0.01e9);
  EXPECT_NEAR(pcie_bytes_per_second("5.0 GT/s PCIe", "1"), 0.5e9, 1e6);
  EXPECT_EQ(pcie_bytes_per_second("", ""), 0);
  EXPECT_EQ(pcie_bytes_per_second("Unknown", "16"), 0);
}

}  // namespace
}  // namespace railshmem::cuda
