// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lt_library.h"

#include <dlfcn.h>

#include "src/base/error.h"

namespace railshmem::overlap::lt {
namespace {

constexpr const char* kNames[] = {"libcublasLt.so.13", "libcublasLt.so.12"};

void* open() {
  std::string why;
  for (const char* const name : kNames) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    why += std::string(why.empty() ? "" : "; ") + dlerror();
  }
  throw Error(
      text("no cuBLASLt (%s); put the folder of libcublasLt.so.13 or .12 into LD_LIBRARY_PATH, or pass a product "
           "of your own",
           why.c_str()));
}

Calls load() {
  void* const library = open();
  Calls calls{};
  const auto find = [&](auto& call, const char* symbol) {
    void* const found = dlsym(library, symbol);
    if (found == nullptr) throw Error(text("cuBLASLt lacks %s; install that of CUDA 12 or 13", symbol));
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(found);
  };
  find(calls.create, "cublasLtCreate");
  find(calls.destroy, "cublasLtDestroy");
  find(calls.version, "cublasLtGetVersion");
  find(calls.status_name, "cublasLtGetStatusName");
  find(calls.operation_create, "cublasLtMatmulDescCreate");
  find(calls.operation_destroy, "cublasLtMatmulDescDestroy");
  find(calls.operation_set, "cublasLtMatmulDescSetAttribute");
  find(calls.layout_create, "cublasLtMatrixLayoutCreate");
  find(calls.layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(calls.preference_create, "cublasLtMatmulPreferenceCreate");
  find(calls.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(calls.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  find(calls.find, "cublasLtMatmulAlgoGetHeuristic");
  find(calls.check, "cublasLtMatmulAlgoCheck");
  find(calls.multiply, "cublasLtMatmul");
  return calls;
}

}  // namespace

const Calls& library() {
  static const Calls calls = load();
  return calls;
}

void must(Status status, const char* call) {
  if (status != 0) throw Error(text("%s: %s (status %d)", call, library().status_name(status), status));
}

}  // namespace railshmem::overlap::lt
