// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/membership.h"

namespace railshmem::tcp {

Seat read_seat(const Bytes& payload, int npes) {
  Unpacker fields(payload);
  Seat seat{};
  seat.tree_key = fields.get<Key>();
  seat.parent = fields.get<int>();
  seat.parent_address = unpack_address(fields);
  if (seat.parent < 0 || seat.parent >= npes || !fields.rest().empty())
    throw Error(text("PE 0 names PE %d of %d as the parent: it is not of this job", seat.parent, npes));
  return seat;
}

int child_named_in(const Bytes& claim, const Key& tree_key) noexcept {
  if (claim.size() != sizeof(Key) + sizeof(int)) return -1;
  Unpacker fields(claim);
  return fields.get<Key>() == tree_key ? fields.get<int>() : -1;
}

}  // namespace railshmem::tcp
