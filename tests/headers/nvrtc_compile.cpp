// SPDX-License-Identifier: BSD-3-Clause
//
// nvrtc_compile INCLUDE FILE...: each file compiles with NVRTC, which has no headers but ours, to machine code that has
// the view of the job where shmemx_cumodule_init looks for it.
#include <nvrtc.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

bool compile(const std::string& include, const char* path) {
  std::ifstream file(path);
  std::stringstream source;
  source << file.rdbuf();
  nvrtcProgram program = nullptr;
  if (!file || nvrtcCreateProgram(&program, source.str().c_str(), path, 0, nullptr, nullptr) != NVRTC_SUCCESS) {
    std::printf("%s: cannot be read\n", path);
    return false;
  }
  const std::string ours = "-I" + include, standard = "-I" + include + "/shmem/nvrtc";
  const char* const options[] = {"-arch=sm_90", "-std=c++17", ours.c_str(), standard.c_str()};
  const nvrtcResult result = nvrtcCompileProgram(program, 4, options);
  size_t nbytes = 0;
  nvrtcGetProgramLogSize(program, &nbytes);
  std::string log(nbytes, '\0');
  nvrtcGetProgramLog(program, log.data());
  std::string code;
  if (result == NVRTC_SUCCESS && nvrtcGetCUBINSize(program, &nbytes) == NVRTC_SUCCESS) {
    code.resize(nbytes);
    nvrtcGetCUBIN(program, code.data());
  }
  nvrtcDestroyProgram(&program);
  const bool has_view = code.find("railshmem_device_view") != std::string::npos;
  std::printf("%s: %s, %zu bytes%s\n%s", path, nvrtcGetErrorString(result), code.size(),
              has_view ? "" : ", no railshmem_device_view", log.c_str());
  return has_view;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: nvrtc_compile INCLUDE FILE...\n");
    return 2;
  }
  bool all = true;
  for (int i = 2; i < argc; ++i) all = compile(argv[1], argv[i]) && all;
  return all ? 0 : 1;
}
