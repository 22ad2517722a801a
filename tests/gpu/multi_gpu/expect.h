// SPDX-License-Identifier: BSD-3-Clause
// What a program of several PEs found wrong so far. Included by one file of a program.
#pragma once

#include <cstdio>
#include <string>

namespace railshmem::multi {

inline int failures = 0, me = 0, npes = 0;  ///< the program sets the last two after shmem_init

inline void expect(bool well, const std::string& what) {
  if (well) return;
  std::printf("FAILED %s: PE %d\n", what.c_str(), me);
  ++failures;
}

}  // namespace railshmem::multi
