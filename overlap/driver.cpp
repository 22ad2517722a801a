// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/driver.h"

#include <algorithm>

#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

constexpr size_t kMostAtOnce = 256;  // operations that the driver takes in one call

}  // namespace

void must(Result result, const char* call) {
  if (result == 0) return;
  const char* why = nullptr;
  if (driver().error_string(result, &why) != 0 || why == nullptr) why = "unknown error";
  throw Error(text("%s: error %d of the CUDA driver, %s", call, result, why));
}

bool is_captured(Stream stream) {
  constexpr int kNot = 0;
  int status = kNot;
  must(driver().stream_capturing(stream, &status), "cuStreamIsCapturing");
  return status != kNot;
}

void give_words(std::span<WordOp> ops, Stream stream) {
  for (size_t at = 0; at < ops.size(); at += kMostAtOnce) {
    const size_t count = std::min(kMostAtOnce, ops.size() - at);
    const Result result = driver().stream_words(stream, static_cast<unsigned>(count), &ops[at], 0);
    if (result != 0)
      must(result,
           text("cuStreamBatchMemOp of %zu operations, the first of which is %d on %p with value %llu and flags "
                "%u",
                count, ops[at].op, pointer_of(ops[at].address), static_cast<unsigned long long>(ops[at].value),
                ops[at].flags)
               .c_str());
  }
}

}  // namespace railshmem::overlap
