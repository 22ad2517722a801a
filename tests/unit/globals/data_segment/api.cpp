// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/globals/data_segment/api.h"

#include <cstdio>

#include "src/globals/shared_data.h"

extern "C" {

__attribute__((visibility("default"))) int test_share(char* reason, size_t nbytes) {
  railshmem::SharedData shared = railshmem::share_data_segment(railshmem::find_data_segment());
  std::snprintf(reason, nbytes, "%s", shared.refusal.c_str());
  return shared.memory.release();
}

__attribute__((visibility("default"))) int test_unshare(char* reason, size_t nbytes) {
  std::string why;
  const bool done = railshmem::unshare_data_segment(&why);
  std::snprintf(reason, nbytes, "%s", why.c_str());
  return done ? 0 : -1;
}

__attribute__((visibility("default"))) void test_segment(char** base, size_t* nbytes) {
  const railshmem::DataSegment segment = railshmem::find_data_segment();
  *base = reinterpret_cast<char*>(segment.base);
  *nbytes = segment.nbytes;
}
}
