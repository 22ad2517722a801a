// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of peers: how libfabric reaches them, endpoints that were opened anew, extents of device memory, and the
// terms of staging behind each descriptor. And the exchange that brings them.
#include <array>

#include "src/base/error.h"
#include "src/plugin/bootstrap.h"
#include "src/proxy/staging/staging_terms.h"
#include "tests/fuzz/fuzz.h"
#include "transports/ofi/descriptor.h"

namespace railshmem::ofi {
namespace {

using fuzz::must;

constexpr int kPe = 3;

void read_descriptor(fuzz::Input input) {
  const std::vector<std::byte> bytes = input.all();
  try {
    must(encode(decode(bytes, kPe)) == bytes, "a descriptor that is taken says no more than its fields");
  } catch (const Error&) {
  }
}

void read_endpoint(fuzz::Input input) {
  const std::vector<std::byte> bytes = input.all();
  try {
    must(encode(decode_endpoint(bytes, kPe)) == bytes, "an endpoint that is taken says no more than its fields");
  } catch (const Error&) {
  }
}

void read_extent(fuzz::Input input) {
  const std::vector<std::byte> bytes = input.all();
  try {
    (void)encode(decode_extent(bytes, kPe));
  } catch (const Error&) {
  }
}

void read_terms(fuzz::Input input) {
  const size_t n = input.u8();
  const std::vector<std::vector<std::byte>> descriptors = {input.bytes(n), input.all()};
  try {
    const auto rest = without_terms(descriptors);
    for (size_t pe = 0; pe < descriptors.size(); ++pe)
      must(rest[pe].size() + sizeof(StagingTerms) == descriptors[pe].size(), "the terms are behind the descriptor");
    compare_terms(descriptors, {});
  } catch (const Error&) {
  }
}

/// Two PEs whose exchanges bring what the input says.
class SaidBootstrap final : public Bootstrap {
 public:
  explicit SaidBootstrap(fuzz::Input& input) : input_(input) {}
  std::string_view name() const noexcept override { return "said"; }
  int pe() const noexcept override { return 0; }
  int npes() const noexcept override { return 2; }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    must(all.size() == 2 * mine.size(), "an exchange has room for all PEs");
    std::copy(mine.begin(), mine.end(), all.begin());
    input_.fill(all.subspan(mine.size()));
  }
  void barrier() override {}
  void notify_end(int, std::string_view) noexcept override {}

 private:
  fuzz::Input& input_;
};

void read_exchange(fuzz::Input input) {
  SaidBootstrap bootstrap(input);
  const std::array<std::byte, 5> mine{};
  try {
    const auto all = exchange_bytes(bootstrap, mine);
    must(all.size() == 2 && all[0].size() == mine.size(), "everybody has what this PE said");
  } catch (const Error&) {
  }
}

fuzz::Data part(char number, const std::vector<std::byte>& bytes) {
  return fuzz::joined({fuzz::seed(std::string_view(&number, 1)), bytes});
}

std::vector<fuzz::Data> seeds() {
  const std::vector<std::byte> address(16, std::byte{2});
  const NetworkDescriptor descriptor{"tcp;ofi_rxm",
                                     {{"10.0.0.0/8", {address, address}, {}}, {"10.1.0.0/16", {address, address}, {}}}};
  const EndpointDescriptor endpoint{Port::proxy, 1, address, {}, {{7, 4096}}};
  return {part(0, encode(descriptor)), part(1, encode(endpoint)), part(2, encode(ExtentDescriptor{{1, 2}, {3, 4}})),
          part(3, fuzz::joined({fuzz::seed("\x44"), add_terms(address, {}), add_terms({}, {})})),
          // Every byte of a peer's terms is 255.
          part(3, fuzz::joined({fuzz::seed("\x40"), std::vector<std::byte>(64, std::byte{255}), add_terms({}, {})})),
          part(4, fuzz::joined({fuzz::seed(std::string_view("\3\0\0\0\0\0\0\0abc", 11))})),
          // A peer announces 1 TiB.
          part(4, fuzz::joined({fuzz::seed(std::string_view("\0\0\0\0\0\1\0\0", 8))}))};
}

}  // namespace
}  // namespace railshmem::ofi

RAILSHMEM_FUZZ(descriptors, railshmem::ofi::seeds) {
  using namespace railshmem::ofi;
  constexpr void (*kParts[])(railshmem::fuzz::Input) = {read_descriptor, read_endpoint, read_extent, read_terms,
                                                        read_exchange};
  kParts[input.u8() % std::size(kParts)](input);
}
