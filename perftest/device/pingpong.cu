// SPDX-License-Identifier: BSD-3-Clause
// signal_pingpong, put_signal_pingpong: PE 0 and its peer answer each other's signals from within kernels.
#include "perftest/device/api.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

struct Table {
  uint64_t* signal;
  char* dest;
  const char* source;
  uint64_t nbytes;
  int peer;
  bool serves;  ///< begins each round
};

/// One round: `send(value)` by the whole scope, and the wait by one thread of it.
template <Scope kScope, class Send>
__device__ inline bool round_trip(const Table& table, uint64_t turn, Send&& send) {
  const uint64_t value = turn + 1;
  if (table.serves) send(value);
  bool well = true;
  if (leads<kScope>()) well = api::wait_signal(table.signal, value);
  well = all<kScope>(well);
  if (well && !table.serves) send(value);
  return well;
}

/// The last answer is complete before its kernel ends.
template <Scope kScope>
__device__ inline void leave() {
  sync<kScope>();
  if (leads<kScope>()) api::quiet();
}

__global__ void signal_kernel(Loop loop, Table table) {
  timed<Scope::thread>(loop, [&](uint64_t turn, uint64_t) {
    return round_trip<Scope::thread>(table, turn,
                                     [&](uint64_t value) { api::set_signal(table.signal, value, table.peer); });
  });
  leave<Scope::thread>();
}

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope)) put_signal_kernel(Loop loop, Table table) {
  timed<kScope>(loop, [&](uint64_t turn, uint64_t) {
    return round_trip<kScope>(table, turn, [&](uint64_t value) {
      api::put_signal_nbi<kScope>(table.dest, table.source, table.nbytes, table.signal, value, table.peer);
    });
  });
  leave<kScope>();
}

/// One way. The receiver copies the data as soon as it sees the signal, for the check.
template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope)) checked_kernel(Table table, char* seen, uint32_t* failed) {
  if (table.serves) {
    api::put_signal_nbi<kScope>(table.dest, table.source, table.nbytes, table.signal, 1, table.peer);
    return leave<kScope>();
  }
  bool well = true;
  if (leads<kScope>()) well = api::wait_signal(table.signal, 1);
  well = all<kScope>(well);
  for (uint64_t i = threadIdx.x; well && i < table.nbytes; i += blockDim.x) seen[i] = table.dest[i];
  if (!well) *failed = 1;
}

template <Scope kScope>
bool check_once(Context& context, const Table& table, const Symmetric& signal) {
  const Gpu<char> seen = allocate_gpu<char>(table.nbytes);
  const Gpu<uint32_t> failed = allocate_gpu<uint32_t>(1);
  signal.clear();
  CUDA_CHECK(cudaMemset(table.dest, 0, table.nbytes));
  if (context.first()) context.fill(const_cast<char*>(table.source), table.nbytes, 0);
  CUDA_CHECK(cudaDeviceSynchronize());
  context.barrier();
  if (context.acts())
    context.launch(checked_kernel<kScope>, 1, context.scope_threads(), table, seen.get(), failed.get());
  context.barrier();
  uint32_t lost = 0;
  CUDA_CHECK(cudaMemcpy(&lost, failed.get(), sizeof lost, cudaMemcpyDefault));
  if (lost != 0) throw std::runtime_error("put_signal_pingpong: no signal came in the checked round");
  return context.agree(!context.is_target() || context.matches(seen.get(), table.nbytes, 0));
}

void run_put_signal(Context& context) {
  const Symmetric from(context.largest()), to(context.largest()), signal(sizeof(uint64_t));
  for (const uint64_t bytes : context.sizes) {
    const Table table{signal.as<uint64_t>(), to.as<>(), from.as<>(), bytes, context.peer(), context.first()};
    with_scope(context.scope, [&]<Scope kScope>() {
      std::optional<bool> validated;
      if (context.options.common.validate) validated = check_once<kScope>(context, table, signal);
      signal.clear();
      add_time(context, "round_trip", bytes, 200, validated, [&](const Loop& loop) {
        context.launch(put_signal_kernel<kScope>, 1, context.scope_threads(), loop, table);
      });
    });
  }
}

void run_signal(Context& context) {
  const Symmetric signal(sizeof(uint64_t));
  const Table table{signal.as<uint64_t>(), nullptr, nullptr, 0, context.peer(), context.first()};
  add_time(context, "round_trip", sizeof(uint64_t), 200, std::nullopt,
           [&](const Loop& loop) { context.launch(signal_kernel, 1, 1, loop, table); });
}

const Register put_signal_pingpong({"put_signal_pingpong",
                                    "put_signal_nbi there and back, waiting for the signal",
                                    Part::two_sided,
                                    {8, 32 << 10},
                                    {Scope::thread, Scope::warp, Scope::block},
                                    true,
                                    run_put_signal});
const Register signal_pingpong({"signal_pingpong",
                                "SET of a signal there and back by one thread",
                                Part::two_sided,
                                {8, 8},
                                {Scope::thread},
                                false,
                                run_signal});

}  // namespace
}  // namespace railshmem::perf::gpu
