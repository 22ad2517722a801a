// SPDX-License-Identifier: BSD-3-Clause
// put_bw, get_bw, p_bw: PE 0 streams messages to or from its peer. The blocks of a grid share a message; none begins
// the next before all have issued their part of this one, as in NVSHMEM's own tests. One quiet at the end.
#include "perftest/device/api.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

constexpr unsigned kBlocks = 32;

struct Flow {
  char* dest;
  const char* source;
  uint64_t nbytes;
  int pe;
  uint32_t* arrived;
  uint64_t limit_ns;
  uint32_t* failed;
};

/// `move(dest, source, nbytes)` is called by each scope of the grid for its part of each message.
template <Scope kScope, class Move>
__device__ inline void stream_messages(const Flow& flow, uint32_t messages, Move&& move) {
  const uint64_t deadline = now_ns() + flow.limit_ns;
  const Slice part = slice_of(flow.nbytes, scope_index<kScope>(), scope_count<kScope>());
  bool well = true;
#pragma unroll 1
  for (uint32_t i = 0; well && i < messages; ++i) {
    if (part.nbytes != 0) move(flow.dest + part.offset, flow.source + part.offset, part.nbytes);
    well = meet_grid(flow.arrived, i, deadline);
  }
  if (threadIdx.x != 0) return;
  api::quiet();
  if (!well) *flow.failed = 1;
}

template <Scope kScope>
__global__ void __launch_bounds__(kMostThreads) put_kernel(Flow flow, uint32_t messages) {
  stream_messages<kScope>(flow, messages, [&](char* dest, const char* source, uint64_t nbytes) {
    api::put_nbi<kScope>(dest, source, nbytes, flow.pe);
  });
}

template <Scope kScope>
__global__ void __launch_bounds__(kMostThreads) get_kernel(Flow flow, uint32_t messages) {
  stream_messages<kScope>(flow, messages, [&](char* dest, const char* source, uint64_t nbytes) {
    api::get_nbi<kScope>(dest, source, nbytes, flow.pe);
  });
}

/// Neighbouring threads write neighbouring words.
__global__ void __launch_bounds__(kMostThreads) p_kernel(Flow flow, uint32_t messages) {
  stream_messages<Scope::block>(flow, messages, [&](char* dest, const char* source, uint64_t nbytes) {
    auto* const to = reinterpret_cast<uint64_t*>(dest);
    const auto* const from = reinterpret_cast<const uint64_t*>(source);
    for (uint64_t i = threadIdx.x; i < nbytes / sizeof *to; i += blockDim.x) api::put_value(to + i, from[i], flow.pe);
  });
}

using Kernel = void (*)(Flow, uint32_t);

struct Direction {
  bool pulls;     ///< data comes from the peer
  uint64_t unit;  ///< messages are multiples of it
};

void stream_bench(Context& context, Kernel kernel, const Direction& direction) {
  const Symmetric from(context.largest() + direction.unit), to(context.largest() + direction.unit);
  const Gpu<uint32_t> words = allocate_gpu<uint32_t>(2);
  const unsigned grid = context.ctas(kBlocks), block = context.threads(kMostThreads);
  const int sender = direction.pulls ? context.target : 0, receiver = direction.pulls ? 0 : context.target;
  for (const uint64_t size : context.sizes) {
    const uint64_t bytes = (size + direction.unit - 1) / direction.unit * direction.unit;
    const Flow flow{to.as<>(), from.as<>(), bytes, context.target, words.get(), context.limit_ns(), words.get() + 1};
    const auto before = [&] { CUDA_CHECK(cudaMemsetAsync(words.get(), 0, sizeof(uint32_t), context.stream())); };
    const auto launch = [&](long messages) {
      context.launch(kernel, grid, block, flow, static_cast<uint32_t>(messages));
    };
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      if (context.pe == sender) context.fill(from.as<>(), bytes, sender);
      context.barrier();
      if (context.acts()) {
        before();
        launch(1);
      }
      context.barrier();
      validated = context.agree(context.pe != receiver || context.matches(to.as<>(), bytes, sender));
    }
    const long iters = messages_of(context.options, bytes);
    const std::vector<double> seconds = event_timed(context, iters, before, launch);
    uint32_t failed = 0;
    CUDA_CHECK(cudaMemcpy(&failed, words.get() + 1, sizeof failed, cudaMemcpyDefault));
    if (failed != 0) throw std::runtime_error(std::string(context.bench->name) + ": --timeout passed in the kernel");
    Row row = context.row("bandwidth", "GB/s", bytes, grid, block);
    row.validated = validated;
    add_throughput(context, std::move(row), iters, seconds, static_cast<double>(bytes) * static_cast<double>(iters),
                   1e9);
  }
}

void run_put(Context& context) {
  with_scope(context.scope, [&]<Scope kScope>() { stream_bench(context, put_kernel<kScope>, {false, 1}); });
}
void run_get(Context& context) {
  with_scope(context.scope, [&]<Scope kScope>() { stream_bench(context, get_kernel<kScope>, {true, 1}); });
}
void run_p(Context& context) {
  stream_bench(context, p_kernel, {false, sizeof(uint64_t)});
}

constexpr Range kSizes{uint64_t{1} << 10, uint64_t{1} << 28};
const Register put_bw({"put_bw",
                       "put_nbi by --ctas blocks that share each message (thread, warp: by parts)",
                       Part::one_sided,
                       kSizes,
                       {Scope::block},
                       true,
                       run_put});
const Register get_bw({"get_bw",
                       "get_nbi by --ctas blocks that share each message",
                       Part::one_sided,
                       kSizes,
                       {Scope::block},
                       true,
                       run_get});
const Register p_bw({"p_bw",
                     "8-byte p by every thread of --ctas blocks",
                     Part::one_sided,
                     {1 << 10, 1 << 26},
                     {Scope::thread},
                     false,
                     run_p});

}  // namespace
}  // namespace railshmem::perf::gpu
