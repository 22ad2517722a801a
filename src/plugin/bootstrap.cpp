// SPDX-License-Identifier: BSD-3-Clause
#include "src/plugin/bootstrap.h"

#include <algorithm>

namespace railshmem {

std::vector<std::vector<std::byte>> exchange_bytes(Bootstrap& bootstrap, std::span<const std::byte> mine) {
  const std::vector<uint64_t> sizes = exchange(bootstrap, static_cast<uint64_t>(mine.size()));
  const size_t largest = static_cast<size_t>(*std::max_element(sizes.begin(), sizes.end()));
  std::vector<std::byte> padded(largest);
  std::copy(mine.begin(), mine.end(), padded.begin());
  std::vector<std::byte> all(largest * sizes.size());
  bootstrap.allgather(padded, all);
  std::vector<std::vector<std::byte>> out(sizes.size());
  for (size_t pe = 0; pe < sizes.size(); ++pe) {
    const auto first = all.begin() + static_cast<ptrdiff_t>(pe * largest);
    out[pe].assign(first, first + static_cast<ptrdiff_t>(sizes[pe]));
  }
  return out;
}

}  // namespace railshmem
