// SPDX-License-Identifier: BSD-3-Clause
// put_lat, get_lat, p_lat, global_put_lat: one operation from its call to its completion at the target.
#include <stdexcept>

#include "perftest/harness/measure.h"

namespace railshmem::perf {
namespace {

constexpr Range kSizes{8, 64 << 10};
constexpr size_t kGlobalBytes = 64 << 10;
/// A global of the executable, symmetric like the heap, but not in it.
alignas(4096) char global_destination[kGlobalBytes];

/// Measures one put-like operation: `post(offset)` moves `bytes`, source to dest, towards the peer.
template <class Post>
void put_latency(Context& context, uint64_t bytes, uint64_t capacity, char* source, char* dest, Post&& post) {
  const bool origin = context.is_origin();
  const auto op = [&](uint64_t offset) {
    post(offset);
    shmem_quiet();
  };
  if (context.options.validate)
    checked_round(context, {origin, origin, context.is_target()}, source, dest, bytes, capacity, op, [] {});
  context.add_latency("latency", bytes, measure(context, origin, origin, [&] { op(0); }));
}

void put_lat(Context& context) {
  const uint64_t capacity = context.largest();
  Symmetric source(capacity);
  Symmetric dest(capacity);
  for (const uint64_t bytes : context.sizes)
    put_latency(context, bytes, capacity, source.as(), dest.as(), [&](uint64_t offset) {
      shmem_putmem(dest.as() + offset, source.as() + offset, bytes, context.peer());
    });
}

void global_put_lat(Context& context) {
  if (context.largest() > kGlobalBytes)
    throw std::invalid_argument("global_put_lat goes up to 64K, the size of its global array; use smaller messages");
  Symmetric source(kGlobalBytes);
  for (const uint64_t bytes : context.sizes)
    put_latency(context, bytes, kGlobalBytes, source.as(), global_destination, [&](uint64_t offset) {
      shmem_putmem(global_destination + offset, source.as() + offset, bytes, context.peer());
    });
}

void p_lat(Context& context) {
  const uint64_t capacity = static_cast<uint64_t>(context.options.window) * sizeof(uint64_t);
  Symmetric source(capacity);
  Symmetric dest(capacity);
  put_latency(context, sizeof(uint64_t), capacity, source.as(), dest.as(), [&](uint64_t offset) {
    const uint64_t i = offset / sizeof(uint64_t);
    shmem_uint64_p(dest.as<uint64_t>() + i, source.as<uint64_t>()[i], context.peer());
  });
}

void get_lat(Context& context) {
  const bool origin = context.is_origin();
  const uint64_t capacity = context.largest();
  Symmetric source(capacity);
  Symmetric dest(capacity);
  for (const uint64_t bytes : context.sizes) {
    const auto op = [&](uint64_t offset) {
      shmem_getmem(dest.as() + offset, source.as() + offset, bytes, context.peer());
    };
    if (context.options.validate)
      checked_round(context, {origin, context.is_target(), origin}, source.as(), dest.as(), bytes, capacity, op, [] {});
    context.add_latency("latency", bytes, measure(context, origin, origin, [&] { op(0); }));
  }
}

const Register put_bench({"put_lat",
                          "putmem + quiet: us",
                          Place::pairs,
                          kSizes,
                          put_lat,
                          {"floor_store", "latency"},
                          {"floor_fi_write_lat", "latency"}});
const Register get_bench(
    {"get_lat", "getmem: us", Place::pairs, kSizes, get_lat, {}, {"floor_fi_read_lat", "latency"}});
const Register p_bench({"p_lat",
                        "uint64_p + quiet: us",
                        Place::pairs,
                        {8, 8},
                        p_lat,
                        {"floor_store", "latency"},
                        {"floor_fi_write_lat", "latency"}});
const Register global_bench({"global_put_lat",
                             "putmem + quiet to a global array of the executable: us",
                             Place::pairs,
                             kSizes,
                             global_put_lat,
                             {"floor_store", "latency"},
                             {"floor_fi_write_lat", "latency"}});

}  // namespace
}  // namespace railshmem::perf
