// SPDX-License-Identifier: BSD-3-Clause
#include "src/channel/ring.h"

namespace railshmem {

void Ring::publish() noexcept {
  if (published_ == next_) return;
  published_ = next_;
  // release: pairs with the acquire of `consumed` in wait_for_room(); without it the producer's next store into the
  // slot could be seen by a load of peek() that comes before this line.
  portable::store_release(consumed_, next_);
}

}  // namespace railshmem
