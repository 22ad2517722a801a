// SPDX-License-Identifier: BSD-3-Clause
//
// nvrtc_compile INCLUDE FILE...: each file compiles with NVRTC, which has no headers but ours, to machine code that has
// the view of the job where shmemx_cumodule_init looks for it.
#include "tests/headers/nvrtc_compile.h"

#include <cstdio>
#include <string>

namespace {

bool compiles(const char* include, const char* path) {
  const std::string code = railshmem::headers::nvrtc_compile(include, path, "sm_90");
  const bool has_view = code.find("railshmem_device_view") != std::string::npos;
  std::printf("%s: %zu bytes%s\n", path, code.size(), has_view ? "" : ", no railshmem_device_view");
  return has_view;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: nvrtc_compile INCLUDE FILE...\n");
    return 2;
  }
  bool all = true;
  for (int i = 2; i < argc; ++i) all = compiles(argv[1], argv[i]) && all;
  return all ? 0 : 1;
}
