// SPDX-License-Identifier: BSD-3-Clause
// What libFuzzer calls. The program has one target.
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railshmem::fuzz;
  targets().front().run(Input(std::as_bytes(std::span(data, size))));
  return 0;
}
