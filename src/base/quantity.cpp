// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/quantity.h"

#include <array>
#include <cmath>

#include "src/base/error.h"

namespace railshmem {

std::string counted(uint64_t n, const char* noun) {
  return text("%llu %s%s", static_cast<unsigned long long>(n), noun, n == 1 ? "" : "s");
}

std::string memory_size(uint64_t nbytes) {
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (nbytes < 1024) return counted(nbytes, "byte");
  double size = static_cast<double>(nbytes) / 1024;
  size_t unit = 0;
  // A size that would be rounded up to 1024 is shown as 1 of the next unit.
  for (; size >= 1023.95 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  const double shown = std::round(size * 10) / 10;
  return text(shown == std::floor(shown) ? "%.0f %s" : "%.1f %s", shown, kUnits[unit]);
}

}  // namespace railshmem
