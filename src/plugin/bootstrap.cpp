// SPDX-License-Identifier: BSD-3-Clause
#include "src/plugin/bootstrap.h"

#include <algorithm>

#include "src/base/error.h"

namespace railshmem {
namespace {

constexpr uint64_t kMostBytes = uint64_t{16} << 20;  // descriptors and reports have some kilobytes

}  // namespace

std::vector<std::vector<std::byte>> exchange_bytes(Bootstrap& bootstrap, std::span<const std::byte> mine) {
  const std::vector<uint64_t> sizes = exchange(bootstrap, static_cast<uint64_t>(mine.size()));
  for (size_t pe = 0; pe < sizes.size(); ++pe)
    if (sizes[pe] > kMostBytes)
      throw Error(
          text("PE %zu announces %llu bytes in an exchange; at most %llu are possible: install the same "
               "RailSHMEM on all hosts, and check the memory of that PE's host",
               pe, static_cast<unsigned long long>(sizes[pe]), static_cast<unsigned long long>(kMostBytes)));
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
