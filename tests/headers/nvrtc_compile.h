// SPDX-License-Identifier: BSD-3-Clause
// Kernels that a program compiles while it runs, with no headers but ours.
#pragma once

#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace railshmem::headers {

/// Machine code for `arch` ("sm_90"); empty, after NVRTC's words, when the file does not compile. `include`: where
/// shmem.h is.
inline std::string nvrtc_compile(const std::string& include, const char* path, const std::string& arch) {
  std::ifstream file(path);
  std::stringstream source;
  source << file.rdbuf();
  nvrtcProgram program = nullptr;
  if (!file || nvrtcCreateProgram(&program, source.str().c_str(), path, 0, nullptr, nullptr) != NVRTC_SUCCESS) {
    std::printf("%s: cannot be read\n", path);
    return {};
  }
  const std::string gpu = "-arch=" + arch, ours = "-I" + include, standard = "-I" + include + "/shmem/nvrtc";
  const char* const options[] = {gpu.c_str(), "-std=c++17", ours.c_str(), standard.c_str()};
  const nvrtcResult result = nvrtcCompileProgram(program, 4, options);
  size_t nbytes = 0;
  std::string code;
  if (result == NVRTC_SUCCESS && nvrtcGetCUBINSize(program, &nbytes) == NVRTC_SUCCESS) {
    code.resize(nbytes);
    nvrtcGetCUBIN(program, code.data());
  } else {
    nvrtcGetProgramLogSize(program, &nbytes);
    std::string log(nbytes, '\0');
    nvrtcGetProgramLog(program, log.data());
    std::printf("%s: %s\n%s", path, nvrtcGetErrorString(result), log.c_str());
  }
  nvrtcDestroyProgram(&program);
  return code;
}

}  // namespace railshmem::headers
