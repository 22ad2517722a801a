// SPDX-License-Identifier: BSD-3-Clause
// A fabric whose rails all die together: no descriptor reaches anybody, so this PE must know its own new addresses.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "src/base/env.h"
#include "src/base/error.h"
#include "tests/support/rail_pair.h"
#include "transports/ofi/descriptor.h"
#include "transports/ofi/fabric.h"

namespace railshmem::testing_support {
namespace {

class FabricReopen : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::map<std::string, std::string> settings = {{"SHMEM_OFI_PROVIDER", GetParam()},
                                                         {"SHMEM_OFI_RAILS_PER_NIC", "2"}};
    env_ = Env::parse([&](const char* name) {
      const auto found = settings.find(name);
      return found == settings.end() ? nullptr : found->second.c_str();
    });
    NetworkConfig config{};
    config.env = &env_;
    config.npes = 1;
    try {
      fabric_.emplace(config);
    } catch (const Error& reason) {
      GTEST_SKIP() << reason.what();
    }
    ASSERT_GE(fabric_->rails(Port::proxy).size(), 2u);
    const Segment segments[] = {{SegmentId::heap, heap_.data(), kBytes}};
    const std::vector<std::byte> descriptor = fabric_->attach(segments);
    fabric_->connect(std::span(&descriptor, 1));
  }

  /// What a flush does: reads a word of this PE's own heap over proxy rail `r`.
  uint64_t read_own(size_t r, uint64_t offset) {
    ofi::Rail& rail = fabric_->rails(Port::proxy)[r];
    uint64_t value = 0;
    OpSlot slot;
    bool posted = false;
    bool done = false;
    wait_for("a read of this PE's own memory", [&] {
      if (!posted) {
        const Post answer = rail.read({{0, SegmentId::heap, offset}, reinterpret_cast<std::byte*>(&value), 8, &slot});
        if (answer == Post::failed) throw std::runtime_error("post failed, error " + std::to_string(rail.last_error()));
        posted = answer == Post::ok;
      }
      RailEvent events[8];
      const size_t n = rail.poll(events);
      for (const RailEvent& event : std::span(events, n)) {
        if (event.kind == RailEvent::Kind::message) rail.release(event);
        if (event.kind == RailEvent::Kind::failed)
          throw std::runtime_error("read failed, error " + std::to_string(event.error));
        done |= event.kind == RailEvent::Kind::completed && event.slot == &slot;
      }
      return done;
    });
    return value;
  }

  static constexpr size_t kBytes = 65536;
  Pages heap_{kBytes};
  Env env_;
  std::optional<ofi::Fabric> fabric_;
};

TEST_P(FabricReopen, ReachesItselfThoughAllRailsWereClosed) {
  const size_t rails = fabric_->rails(Port::proxy).size();
  const auto put = [&](uint64_t value) { std::memcpy(heap_.data() + 4096, &value, sizeof value); };
  put(1);
  for (size_t r = 0; r < rails; ++r) EXPECT_EQ(read_own(r, 4096), 1u);
  std::vector<std::vector<std::byte>> descriptors;
  for (size_t r = 0; r < rails; ++r) descriptors.push_back(fabric_->reopen(Port::proxy, r));
  put(2);
  for (size_t r = 0; r < rails; ++r) EXPECT_EQ(read_own(r, 4096), 2u) << "rail " << r;
  // A descriptor that comes again brings nothing new to this port, but the host port learns by it.
  for (size_t r = 0; r < rails; ++r) {
    EXPECT_EQ(fabric_->learn(Port::proxy, 0, descriptors[r]), 0u);
    EXPECT_EQ(fabric_->learn(Port::host, 0, descriptors[r]), uint32_t{1} << r);
  }
  put(3);
  for (size_t r = 0; r < rails; ++r) EXPECT_EQ(read_own(r, 4096), 3u);
}

/// The provider reads an address of the length that it knows, whatever a message says.
TEST_P(FabricReopen, DescriptorWithAnotherAddressIsRefused) {
  const ofi::EndpointDescriptor descriptor = ofi::decode_endpoint(fabric_->reopen(Port::proxy, 0), 0);
  EXPECT_EQ(fabric_->learn(Port::host, 0, ofi::encode(descriptor)), 1u);
  for (const size_t nbytes : {size_t{0}, size_t{3}, descriptor.address.size() - 1, descriptor.address.size() + 1}) {
    ofi::EndpointDescriptor other = descriptor;
    other.address.resize(nbytes, std::byte{1});
    EXPECT_THROW(fabric_->learn(Port::host, 0, ofi::encode(other)), Error) << nbytes << " bytes";
    EXPECT_THROW(fabric_->learn(Port::proxy, 0, ofi::encode(other)), Error) << nbytes << " bytes";
  }
  ofi::EndpointDescriptor other = descriptor;
  other.rail = 1000;
  EXPECT_THROW(fabric_->learn(Port::host, 0, ofi::encode(other)), Error);
  other = descriptor;
  other.port = Port::rings;
  EXPECT_THROW(fabric_->learn(Port::host, 0, ofi::encode(other)), Error) << "this job has one proxy thread";
  std::vector<std::byte> cut = ofi::encode(descriptor);
  for (; !cut.empty(); cut.pop_back())
    EXPECT_THROW(fabric_->learn(Port::host, 0, std::span(cut).first(cut.size() - 1)), Error);
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricReopen, testing::Values("tcp;ofi_rxm", "net", "sockets"),
                         [](const auto& provider) {
                           std::string name;
                           for (const char* c = provider.param; *c; ++c)
                             if (std::isalnum(static_cast<unsigned char>(*c))) name += *c;
                           return name;
                         });

}  // namespace
}  // namespace railshmem::testing_support
