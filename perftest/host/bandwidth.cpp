// SPDX-License-Identifier: BSD-3-Clause
// put_bw, get_bw, bibw, put_incast: a window of non-blocking transfers, then quiet.
#include "perftest/harness/measure.h"

namespace railshmem::perf {
namespace {

constexpr Range kSizes{8, 4 << 20};

enum class Direction { put, get, both };

template <Direction D>
void bandwidth(Context& context) {
  const bool origin = context.is_origin();
  const bool target = context.is_target();
  const bool posts = origin || (D == Direction::both && target);
  constexpr bool kGet = D == Direction::get;
  const bool provides = kGet ? target : posts;
  const bool receives = kGet ? origin : target || (D == Direction::both && origin);
  const Flow flow{posts, provides, receives};
  const int peer = context.peer();
  const uint64_t capacity = context.largest();
  Symmetric source_memory(capacity);
  Symmetric target_memory(capacity);
  char* source = source_memory.as();
  char* dest = target_memory.as();
  const int window = context.options.window;
  for (const uint64_t bytes : context.sizes) {
    const auto post = [&](uint64_t offset) {
      if constexpr (D == Direction::get)
        shmem_getmem_nbi(dest + offset, source + offset, bytes, peer);
      else
        shmem_putmem_nbi(dest + offset, source + offset, bytes, peer);
    };
    if (context.options.validate) checked_round(context, flow, source, dest, bytes, capacity, post, shmem_quiet);
    const auto by_origin = measure(context, posts, posts, [&] {
      for (int i = 0; i < window; ++i) post(0);
      shmem_quiet();
    });
    context.add_bandwidth(bytes, static_cast<double>(bytes) * window, by_origin);
  }
}

/// All PEs put to the last PE, which only receives.
void put_incast(Context& context) {
  const int target = context.npes - 1;
  const bool sends = context.pe != target;
  const int window = context.options.window;
  Symmetric source(context.largest());
  Symmetric inbox(context.largest() * static_cast<uint64_t>(context.npes));
  for (const uint64_t bytes : context.sizes) {
    char* const dest = inbox.as() + bytes * static_cast<uint64_t>(context.pe);
    const auto by_sender = measure(context, sends, sends, [&] {
      for (int i = 0; i < window; ++i) shmem_putmem_nbi(dest, source.as(), bytes, target);
      shmem_quiet();
    });
    context.add_bandwidth(bytes, static_cast<double>(bytes) * window, by_sender);
  }
}

const Register put_bw({"put_bw",
                       "putmem_nbi x window + quiet: GB/s",
                       Place::pairs,
                       kSizes,
                       bandwidth<Direction::put>,
                       {"floor_memcpy", "bandwidth"},
                       {"floor_fi_bw", "bandwidth"}});
const Register get_bw({"get_bw",
                       "getmem_nbi x window + quiet: GB/s",
                       Place::pairs,
                       kSizes,
                       bandwidth<Direction::get>,
                       {"floor_memcpy", "bandwidth"},
                       {"floor_fi_bw", "bandwidth"}});
const Register bibw({"bibw",
                     "put_bw in both directions at once, summed: GB/s",
                     Place::pairs,
                     kSizes,
                     bandwidth<Direction::both>,
                     {"floor_memcpy", "bandwidth"},
                     {"floor_fi_bw", "bandwidth"}});
const Register incast({"put_incast",
                       "putmem_nbi x window + quiet, from all other PEs to the last one, summed: GB/s",
                       Place::all,
                       {64 << 10, 64 << 10},
                       put_incast});

}  // namespace
}  // namespace railshmem::perf
