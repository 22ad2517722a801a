// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/measure.h"

#include <cstdio>

namespace railshmem::perf {

void say_cut_short(const Context& context, double op_seconds, long repetitions) {
  if (context.pe != 0) return;
  fprintf(stderr, "shmem_perf: %s: one operation takes %.2f s, so %ld of %d repetitions fit into --seconds %g\n",
          context.bench->name, op_seconds, repetitions, context.options.repetitions, context.options.seconds);
}

bool check_message(Context& context, const void* buffer, uint64_t bytes, int sender, uint64_t round) {
  const auto wrong = find_mismatch(buffer, bytes, sender, round);
  if (!wrong) return true;
  char text[160];
  snprintf(text, sizeof text, "%llu bytes from PE %d, round %llu, offset %zu: got 0x%02x, expected 0x%02x",
           static_cast<unsigned long long>(bytes), sender, static_cast<unsigned long long>(round), *wrong,
           static_cast<const uint8_t*>(buffer)[*wrong], pattern_byte(sender, round, *wrong));
  context.mismatch(text);
  return false;
}

}  // namespace railshmem::perf
