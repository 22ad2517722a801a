// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/id.h"

namespace railshmem::tcp {
namespace {

constexpr uint64_t kIdMagic = 0x3244494d48535352;  // "RSSHMID2": version 2 of the layout
constexpr size_t kMostAddresses = (kIdSize - sizeof kIdMagic - sizeof(Key) - 2) / kPackedAddress;

}  // namespace

size_t most_addresses_of_id() noexcept {
  return kMostAddresses;
}

Bytes pack_id(const Id& id) {
  Packer packer;
  packer.add(kIdMagic).add(id.use).add(id.key).add(static_cast<uint8_t>(id.addresses.size()));
  for (const Address& address : id.addresses) pack(packer, address);
  return packer.take();
}

Id unpack_id(std::span<const std::byte, kIdSize> bytes) {
  Unpacker fields(bytes);
  Id out;
  if (fields.get<uint64_t>() != kIdMagic)
    throw Error(
        "the unique id was not made by shmemx_get_uniqueid of this library version, or its 128 bytes were not "
        "copied whole");
  out.use = fields.get<uint8_t>() == 0 ? KeyUse::shown : KeyUse::proven;
  out.key = fields.get<Key>();
  const auto count = fields.get<uint8_t>();
  if (count > kMostAddresses)
    throw Error(railshmem::text("the unique id announces %d addresses; it is damaged", count));
  for (unsigned i = 0; i < count; ++i) out.addresses.push_back(unpack_address(fields));
  if (out.addresses.empty()) throw Error("the unique id holds no address");
  if (out.addresses.front().port() == 0) throw Error("the unique id holds no port; it is damaged");
  return out;
}

}  // namespace railshmem::tcp
