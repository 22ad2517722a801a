// SPDX-License-Identifier: BSD-3-Clause
// The parts of the libfabric transport that the rail suite cannot steer.
#include <gtest/gtest.h>

#include <memory>

#include "src/base/error.h"
#include "tests/support/ofi_fabric.h"
#include "transports/ofi/descriptor.h"
#include "transports/ofi/fabric.h"

namespace railshmem::ofi {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* p = reinterpret_cast<const std::byte*>(text.data());
  return {p, p + text.size()};
}

NetworkDescriptor sample(const char* provider = "net") {
  NetworkDescriptor descriptor;
  descriptor.provider = provider;
  descriptor.rails.push_back({"10.0.0.0/24",
                              {bytes_of("rail 0"), bytes_of("host"), bytes_of("rings")},
                              {RemoteRegion{1, 0x1000}, RemoteRegion{2, 0}}});
  descriptor.rails.push_back({"", {bytes_of("another"), bytes_of("")}, {RemoteRegion{~0ull, ~0ull}, RemoteRegion{}}});
  return descriptor;
}

std::string error_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::shared_ptr<Fabric> open(const char* provider) {
  return testing_support::make_ofi_fabric({{"SHMEM_OFI_PROVIDER", provider}});
}

TEST(OfiDescriptor, ComesBackAsItWent) {
  const NetworkDescriptor descriptor = sample();
  const NetworkDescriptor back = decode(encode(descriptor), 1);
  EXPECT_EQ(back.provider, descriptor.provider);
  ASSERT_EQ(back.rails.size(), 2u);
  for (size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(back.rails[r].addresses, descriptor.rails[r].addresses);
    for (size_t s = 0; s < kSegments; ++s) {
      EXPECT_EQ(back.rails[r].regions[s].key, descriptor.rails[r].regions[s].key);
      EXPECT_EQ(back.rails[r].regions[s].base, descriptor.rails[r].regions[s].base);
    }
  }
}

TEST(OfiDescriptor, AnyCutOrAdditionIsAnErrorNamingThePe) {
  const std::vector<std::byte> whole = encode(sample());
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_NE(error_of([&] { decode(std::span(whole).first(n), 7); }).find("PE 7"), std::string::npos) << n;
  auto longer = whole;
  longer.push_back({});
  EXPECT_NE(error_of([&] { decode(longer, 7); }).find("PE 7"), std::string::npos);
}

TEST(OfiDescriptor, AnotherVersionIsNamed) {
  auto descriptor = encode(sample());
  descriptor[0] = std::byte{99};
  EXPECT_NE(error_of([&] { decode(descriptor, 3); }).find("PE 3 speaks version 99"), std::string::npos);
}

TEST(OfiFabric, AnotherProviderAtAPeerIsNamed) {
  std::shared_ptr<Fabric> fabric;
  const std::string missing = error_of([&] { fabric = open("tcp;ofi_rxm"); });
  if (!fabric) GTEST_SKIP() << missing;
  const std::vector<std::vector<std::byte>> descriptors = {fabric->attach({}), encode(sample("verbs;ofi_rxm"))};
  const std::string message = error_of([&] { fabric->connect(descriptors); });
  EXPECT_NE(message.find("PE 1 uses the libfabric provider 'verbs;ofi_rxm', PE 0 uses 'tcp;ofi_rxm'"),
            std::string::npos)
      << message;
}

TEST(OfiFabric, UnknownProviderListsTheOthers) {
  const std::string message = error_of([] { open("foo"); });
  EXPECT_EQ(message.rfind("SHMEM_OFI_PROVIDER is 'foo'; available: ", 0), 0u) << message;
}

TEST(OfiFabric, DescribesWhatWasNegotiated) {
  std::shared_ptr<Fabric> fabric;
  const std::string missing = error_of([&] { fabric = open("tcp"); });
  if (!fabric) GTEST_SKIP() << missing;
  const std::string lines = fabric->describe();
  for (const char* part : {"ofi rail tcp", "mr_mode", "progress manual", "order", "inject", "messages"})
    EXPECT_NE(lines.find(part), std::string::npos) << part << " is missing in\n" << lines;
}

}  // namespace
}  // namespace railshmem::ofi
