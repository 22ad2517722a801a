// SPDX-License-Identifier: BSD-3-Clause
// What programs on streams find in their symmetric arrays.
#pragma once

#include <shmem.h>

#include <cstdio>
#include <string>
#include <vector>

namespace railshmem::multi {

/// Whether this PE's array, fetched by host code, has these elements; says which one it has not.
template <class T>
bool holds(const char* name, const T* array, const std::vector<T>& right) {
  const int me = shmem_my_pe();
  std::vector<T> seen(right.size());
  shmem_getmem(seen.data(), array, seen.size() * sizeof(T), me);
  for (size_t i = 0; i < right.size(); ++i) {
    if (seen[i] == right[i]) continue;
    std::printf("FAILED %s: PE %d: element %zu of %zu is %s, expected %s\n", name, me, i, right.size(),
                std::to_string(seen[i]).c_str(), std::to_string(right[i]).c_str());
    return false;
  }
  return true;
}

}  // namespace railshmem::multi
