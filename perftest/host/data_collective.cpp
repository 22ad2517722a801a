// SPDX-License-Identifier: BSD-3-Clause
// broadcast, collect, fcollect, alltoall, alltoalls over all PEs: latency and bandwidth against size.
//
// The bandwidth is that of one PE: the bytes that arrive in its dest, its own block among them, over time.
#include "perftest/harness/measure.h"

#if RAILSHMEM_PERF_HAS(1, 5)
namespace railshmem::perf {
namespace {

constexpr Range kSizes{8, 1 << 20};
constexpr FloorOf kFlag{"floor_flag_pingpong", "round_trip"};
constexpr FloorOf kCopy{"floor_memcpy_pair", "bandwidth"};
constexpr FloorOf kFabricFlag{"floor_fi_pingpong", "round_trip"};
constexpr FloorOf kFabricCopy{"floor_fi_bw", "bandwidth"};
constexpr size_t kSpacing = 2;  // alltoalls: every second element on both sides

/// One collective: its call, and the layout of its data. Sizes are the bytes that one PE gives to one other PE.
struct Shape {
  void (*call)(char* dest, const char* source, uint64_t bytes, int root);
  bool block_per_sender;    ///< dest has a block of every PE; else the root's only
  bool block_per_receiver;  ///< source has a block for every PE
  size_t spacing;
};

const shmem_team_t kTeam = SHMEM_TEAM_WORLD;

const Shape kBroadcast{[](char* d, const char* s, uint64_t n, int root) { shmem_broadcastmem(kTeam, d, s, n, root); },
                       false, false, 1};
const Shape kCollect{[](char* d, const char* s, uint64_t n, int) { shmem_collectmem(kTeam, d, s, n); }, true, false, 1};
const Shape kFcollect{[](char* d, const char* s, uint64_t n, int) { shmem_fcollectmem(kTeam, d, s, n); }, true, false,
                      1};
const Shape kAlltoall{[](char* d, const char* s, uint64_t n, int) { shmem_alltoallmem(kTeam, d, s, n); }, true, true,
                      1};
const Shape kAlltoalls{[](char* d, const char* s, uint64_t n, int) {
                         shmem_uint64_alltoalls(kTeam, reinterpret_cast<uint64_t*>(d),
                                                reinterpret_cast<const uint64_t*>(s), kSpacing, kSpacing, n / 8);
                       },
                       true, true, kSpacing};

/// A checked round. Blocks hold the pattern of their sender, one round number for each receiver.
void check(Context& context, const Shape& shape, char* dest, char* source, uint64_t bytes, int root) {
  const int receivers = shape.block_per_receiver ? context.npes : 1;
  const auto round_of = [&](int to) { return bytes + static_cast<uint64_t>(shape.block_per_receiver ? to : 0); };
  std::vector<char> packed(bytes);
  for (int to = 0; to < receivers; ++to) {
    fill_pattern(packed.data(), bytes, context.pe, round_of(to));
    char* const block = source + static_cast<uint64_t>(to) * bytes * shape.spacing;
    for (uint64_t i = 0; i < bytes; ++i) block[i / 8 * 8 * shape.spacing + i % 8] = packed[i];
  }
  shmem_barrier_all();
  shape.call(dest, source, bytes, root);
  for (int from = 0; from < (shape.block_per_sender ? context.npes : 1); ++from) {
    const char* const block = dest + static_cast<uint64_t>(from) * bytes * shape.spacing;
    for (uint64_t i = 0; i < bytes; ++i) packed[i] = block[i / 8 * 8 * shape.spacing + i % 8];
    check_message(context, packed.data(), bytes, shape.block_per_sender ? from : root, round_of(context.pe));
  }
  context.conclude_check();
}

template <const Shape& kShape>
void run(Context& context, bool bandwidth) {
  const auto pes = static_cast<uint64_t>(context.npes);
  const uint64_t most = context.largest() * kShape.spacing;
  Symmetric source_memory(kShape.block_per_receiver ? most * pes : most);
  Symmetric dest_memory(kShape.block_per_sender ? most * pes : most);
  char* const source = source_memory.as();
  char* const dest = dest_memory.as();
  for (const uint64_t bytes : context.sizes) {
    if (context.options.validate)
      for (int root = 0; root < (kShape.block_per_sender ? 1 : context.npes); ++root)
        check(context, kShape, dest, source, bytes, root);
    // Every PE is root once, so that no root runs ahead: a round takes as long as the data needs.
    const int roots = kShape.block_per_sender ? 1 : context.npes;
    const auto timed = measure(context, true, context.pe == 0, [&] {
      for (int root = 0; root < roots; ++root) kShape.call(dest, source, bytes, root);
    });
    if (bandwidth)
      context.add_bandwidth(bytes, static_cast<double>(bytes * pes), timed);
    else
      context.add_latency("latency", bytes, timed, 1.0 / roots);
  }
}

template <const Shape& kShape>
void latency(Context& context) {
  run<kShape>(context, false);
}
template <const Shape& kShape>
void bandwidth(Context& context) {
  run<kShape>(context, true);
}

/// A root that never waits for anybody: the cost of a call when the data streams.
void broadcast_stream(Context& context) {
  Symmetric source(context.largest());
  Symmetric dest(context.largest());
  for (const uint64_t bytes : context.sizes)
    context.add_latency("latency", bytes, measure(context, true, true, [&] {
                          shmem_broadcastmem(kTeam, dest.as(), source.as(), bytes, 0);
                        }));
}

#define BENCHES(NAME, SHAPE)                                                                                       \
  const Register NAME##_lat_bench(                                                                                 \
      {#NAME "_lat", #NAME " over all PEs: us", Place::all, kSizes, latency<SHAPE>, kFlag, kFabricFlag});          \
  const Register NAME##_bw_bench({#NAME "_bw", #NAME " over all PEs, what one of them receives: GB/s", Place::all, \
                                  kSizes, bandwidth<SHAPE>, kCopy, kFabricCopy});
BENCHES(broadcast, kBroadcast)
BENCHES(collect, kCollect)
BENCHES(fcollect, kFcollect)
BENCHES(alltoall, kAlltoall)
BENCHES(alltoalls, kAlltoalls)
const Register stream_bench({"broadcast_stream", "broadcast from PE 0 again and again, without a wait between: us",
                             Place::all, kSizes, broadcast_stream, kFlag, kFabricFlag});

}  // namespace
}  // namespace railshmem::perf
#endif
