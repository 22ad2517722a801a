// SPDX-License-Identifier: BSD-3-Clause
// barrier_lat, sync_lat: all PEs, as PE 0 sees it.
#include "perftest/harness/measure.h"

namespace railshmem::perf {
namespace {

constexpr FloorOf kFlagFloor{"floor_flag_pingpong", "round_trip"};
constexpr FloorOf kFabricFloor{"floor_fi_pingpong", "round_trip"};

void barrier_lat(Context& context) {
  context.add_latency("latency", 0, measure(context, true, context.pe == 0, [] { shmem_barrier_all(); }));
}
void sync_lat(Context& context) {
  context.add_latency("latency", 0, measure(context, true, context.pe == 0, [] { shmem_sync_all(); }));
}

const Register barrier_bench(
    {"barrier_lat", "barrier_all: us", Place::all, {0, 0}, barrier_lat, kFlagFloor, kFabricFloor});
const Register sync_bench({"sync_lat", "sync_all: us", Place::all, {0, 0}, sync_lat, kFlagFloor, kFabricFloor});

}  // namespace
}  // namespace railshmem::perf
