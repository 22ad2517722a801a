// SPDX-License-Identifier: BSD-3-Clause
// amo_lat, amo_bw: atomics of 8 bytes at the peer.
#include "perftest/device/api.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

/// Fetching AMOs are complete when they return; quiet then costs nothing that other operations cause.
template <Amo kAmo>
__global__ void amo_latency(Loop loop, uint64_t* word, int pe) {
  timed<Scope::thread>(loop, [&](uint64_t, uint64_t) {
    api::amo<kAmo>(word, 1, pe);
    if constexpr (kAmo == Amo::add) api::quiet();
    return true;
  });
}

/// Each thread adds to a word of its own.
__global__ void __launch_bounds__(kMostThreads) amo_rate(uint64_t* words, uint32_t iters, int pe) {
  uint64_t* const mine = words + (blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll 1
  for (uint32_t i = 0; i < iters; ++i) api::amo<Amo::add>(mine, 1, pe);
  __syncthreads();
  if (threadIdx.x == 0) api::quiet();
}

void launch_latency(Context& context, const Loop& loop, uint64_t* word) {
  switch (context.options.amo) {
    case Amo::add:
      return context.launch(amo_latency<Amo::add>, 1, 1, loop, word, context.target);
    case Amo::fetch_add:
      return context.launch(amo_latency<Amo::fetch_add>, 1, 1, loop, word, context.target);
    case Amo::swap:
      return context.launch(amo_latency<Amo::swap>, 1, 1, loop, word, context.target);
    case Amo::compare_swap:
      return context.launch(amo_latency<Amo::compare_swap>, 1, 1, loop, word, context.target);
  }
}

/// Whether all words at the target have the value; true elsewhere. Collective.
bool check_words(Context& context, const Symmetric& words, size_t n, uint64_t expected) {
  bool well = true;
  if (context.is_target()) {
    std::vector<uint64_t> values(n);
    CUDA_CHECK(cudaMemcpy(values.data(), words.as<>(), n * sizeof(uint64_t), cudaMemcpyDefault));
    for (size_t i = 0; well && i < n; ++i) {
      well = values[i] == expected;
      if (!well)
        fprintf(stderr, "shmem_gpu_perf: %s: word %zu is %llu, expected %llu\n", context.bench->name, i,
                static_cast<unsigned long long>(values[i]), static_cast<unsigned long long>(expected));
    }
  }
  return context.agree(well);
}

void run_latency(Context& context) {
  const Symmetric word(sizeof(uint64_t));
  const perf::Options& common = context.options.common;
  const auto launch = [&](const Loop& loop) { launch_latency(context, loop, word.as<uint64_t>()); };
  const long iters = iterations(context.options, sizeof(uint64_t), 200);
  std::optional<bool> validated;
  if (common.validate) {
    self_timed(context, iters, launch);
    const bool adds = context.options.amo == Amo::add || context.options.amo == Amo::fetch_add;
    const auto turns = static_cast<uint64_t>(common.warmup + iters * common.repetitions);
    validated = check_words(context, word, 1, adds ? turns : 1);
  }
  add_time(context, name_of(context.options.amo), sizeof(uint64_t), 200, validated, launch);
}

void run_rate(Context& context) {
  const unsigned grid = context.ctas(32), block = context.threads(256);
  const size_t threads = size_t{grid} * block;
  const Symmetric words(threads * sizeof(uint64_t));
  const long iters = iterations(context.options, sizeof(uint64_t), 500);
  const auto launch = [&](long each) {
    context.launch(amo_rate, grid, block, words.as<uint64_t>(), static_cast<uint32_t>(each), context.target);
  };
  std::optional<bool> validated;
  if (context.options.common.validate) {
    context.barrier();
    if (context.acts()) launch(iters);
    context.barrier();
    validated = check_words(context, words, threads, static_cast<uint64_t>(iters));
  }
  const std::vector<double> seconds = event_timed(
      context, iters, [] {}, launch);
  Row row = context.row("rate", "Mops/s", sizeof(uint64_t), grid, block);
  row.validated = validated;
  add_throughput(context, std::move(row), iters, seconds, static_cast<double>(threads) * static_cast<double>(iters),
                 1e6);
}

const Register amo_lat({"amo_lat",
                        "--op on 8 bytes by one thread, add with quiet",
                        Part::one_sided,
                        {8, 8},
                        {Scope::thread},
                        false,
                        run_latency});
const Register amo_bw({"amo_bw",
                       "atomic adds by every thread of --ctas blocks, each to a word of its own",
                       Part::one_sided,
                       {8, 8},
                       {Scope::thread},
                       false,
                       run_rate});

}  // namespace
}  // namespace railshmem::perf::gpu
