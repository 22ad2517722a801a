// SPDX-License-Identifier: BSD-3-Clause
// put_rate, p_rate: small operations a second, a window at a time.
#include "perftest/harness/measure.h"

namespace railshmem::perf {
namespace {

template <class Post>
void rate(Context& context, uint64_t bytes, uint64_t capacity, char* source, char* dest, Post&& post) {
  const bool origin = context.is_origin();
  const int window = context.options.window;
  if (context.options.validate)
    checked_round(context, {origin, origin, context.is_target()}, source, dest, bytes, capacity, post, shmem_quiet);
  const auto by_origin = measure(context, origin, origin, [&] {
    for (int i = 0; i < window; ++i) post(0);
    shmem_quiet();
  });
  context.add_rate(bytes, window, by_origin);
}

void put_rate(Context& context) {
  const uint64_t capacity = context.largest() * static_cast<uint64_t>(context.options.window);
  Symmetric source(capacity);
  Symmetric dest(capacity);
  for (const uint64_t bytes : context.sizes)
    rate(context, bytes, capacity, source.as(), dest.as(),
         [&](uint64_t offset) { shmem_putmem_nbi(dest.as() + offset, source.as() + offset, bytes, context.peer()); });
}

void p_rate(Context& context) {
  const uint64_t capacity = sizeof(uint64_t) * static_cast<uint64_t>(context.options.window);
  Symmetric source(capacity);
  Symmetric dest(capacity);
  rate(context, sizeof(uint64_t), capacity, source.as(), dest.as(), [&](uint64_t offset) {
    const uint64_t i = offset / sizeof(uint64_t);
    shmem_uint64_p(dest.as<uint64_t>() + i, source.as<uint64_t>()[i], context.peer());
  });
}

const Register put_bench({"put_rate",
                          "putmem_nbi x window + quiet: Mops/s",
                          Place::pairs,
                          {8, 8},
                          put_rate,
                          {"floor_store", "rate"},
                          {"floor_fi_rate", "rate"}});
const Register p_bench({"p_rate",
                        "uint64_p x window + quiet: Mops/s",
                        Place::pairs,
                        {8, 8},
                        p_rate,
                        {"floor_store", "rate"},
                        {"floor_fi_rate", "rate"}});

}  // namespace
}  // namespace railshmem::perf
