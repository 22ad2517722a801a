// SPDX-License-Identifier: BSD-3-Clause
// ring_rate, ring_issue*, ring_rtt: commands to a PE that load and store do not reach, through ring, proxy and network.
// SHMEM_NODE_SIZE=1 makes any peer such a PE. Only in the program that measures RailSHMEM.
#include "perftest/device/api.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

constexpr uint64_t kWords = 8;  ///< of a put whose data stays where it is until the proxy takes it

/// Each thread sends to a word of its own.
__global__ void __launch_bounds__(kMostThreads) rate_kernel(uint64_t* words, uint32_t iters, int pe) {
  uint64_t* const mine = words + (blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll 1
  for (uint32_t i = 0; i < iters; ++i) api::put_value(mine, i, pe);
  __syncthreads();
  if (threadIdx.x == 0) api::quiet();
}

enum class Issued : uint8_t { value, signal, bytes, published };

/// The cost of a call for the thread that makes it; the quiet between repetitions empties the ring unmeasured.
template <Issued kIssued>
__global__ void issue_kernel(Loop loop, uint64_t* words, int pe, shmem_ctx_t context) {
  timed<Scope::thread>(
      loop,
      [&](uint64_t turn, uint64_t) {
        if (kIssued == Issued::value) api::put_value(words, turn, pe);
        if (kIssued == Issued::signal) api::set_signal(words, turn, pe);
        if (kIssued == Issued::bytes) shmem_putmem_nbi(words, words + kWords, kWords * sizeof *words, pe);
        if (kIssued == Issued::published)
          shmem_ctx_putmem_nbi(context, words, words + kWords, kWords * sizeof *words, pe);
        return true;
      },
      [] { api::quiet(); });
}

__global__ void round_trip_kernel(Loop loop, uint64_t* word, int pe) {
  timed<Scope::thread>(loop, [&](uint64_t turn, uint64_t) {
    api::put_value(word, turn, pe);
    api::quiet();
    return true;
  });
}

void need_ring(const Context& context, const Symmetric& words) {
  if (context.first() && context.at_peer(words.as<>()) != nullptr)
    throw std::runtime_error(std::string(context.bench->name) + ": PE " + std::to_string(context.target) +
                             " is reached by load and store; set SHMEM_NODE_SIZE=1");
}

void run_rate(Context& context) {
  const unsigned grid = context.ctas(1), block = context.threads(kWarpThreads);
  const size_t threads = size_t{grid} * block;
  const Symmetric words(threads * sizeof(uint64_t));
  need_ring(context, words);
  const long iters = iterations(context.options, sizeof(uint64_t), 1000);
  const auto launch = [&](long each) {
    context.launch(rate_kernel, grid, block, words.as<uint64_t>(), static_cast<uint32_t>(each), context.target);
  };
  const std::vector<double> seconds = event_timed(
      context, iters, [] {}, launch);
  Row row = context.row("rate", "Mops/s", sizeof(uint64_t), grid, block);
  add_throughput(context, std::move(row), iters, seconds, static_cast<double>(threads) * static_cast<double>(iters),
                 1e6);
}

// 64: few enough for any ring, so that nothing waits for room.
constexpr long kBurst = 64;

template <Issued kIssued>
void run_issue(Context& context) {
  const Symmetric words(2 * kWords * sizeof(uint64_t));
  need_ring(context, words);
  shmem_ctx_t told = SHMEM_CTX_INVALID;
  if (shmem_ctx_create(SHMEMX_CTX_PUBLISHED, &told) != 0) throw std::runtime_error("shmem_ctx_create made no context");
  const bool small = kIssued == Issued::value || kIssued == Issued::signal;
  add_time(context, "issue", (small ? 1 : kWords) * sizeof(uint64_t), kBurst, std::nullopt, [&](const Loop& loop) {
    context.launch(issue_kernel<kIssued>, 1, 1, loop, words.as<uint64_t>(), context.target, told);
  });
  if (!giving_up()) shmem_ctx_destroy(told);
}

void run_round_trip(Context& context) {
  const Symmetric word(sizeof(uint64_t));
  need_ring(context, word);
  add_time(context, "round_trip", sizeof(uint64_t), kBurst, std::nullopt, [&](const Loop& loop) {
    context.launch(round_trip_kernel, 1, 1, loop, word.as<uint64_t>(), context.target);
  });
}

constexpr Range kWord{8, 8};
const Register rate({"ring_rate",
                     "commands a second from --ctas blocks of --threads (1 x 32), with SHMEM_NODE_SIZE=1",
                     Part::one_sided,
                     kWord,
                     {Scope::thread},
                     false,
                     run_rate});
const Register issue({"ring_issue",
                      "time until one thread's p returns; its effect may come later",
                      Part::one_sided,
                      kWord,
                      {Scope::thread},
                      false,
                      run_issue<Issued::value>});
const Register issue_signal({"ring_issue_signal",
                             "time until one thread's signal_set returns",
                             Part::one_sided,
                             kWord,
                             {Scope::thread},
                             false,
                             run_issue<Issued::signal>});
const Register issue_put({"ring_issue_put",
                          "time until one thread's put_nbi of 64 bytes returns, with a fence of system scope",
                          Part::one_sided,
                          kWord,
                          {Scope::thread},
                          false,
                          run_issue<Issued::bytes>});
const Register issue_published(
    {"ring_issue_published",
     "time until one thread's put_nbi of 64 bytes on a context of SHMEMX_CTX_PUBLISHED returns: no fence",
     Part::one_sided,
     kWord,
     {Scope::thread},
     false,
     run_issue<Issued::published>});
const Register rtt({"ring_rtt",
                    "one command and quiet: until the GPU sees it completed",
                    Part::one_sided,
                    kWord,
                    {Scope::thread},
                    false,
                    run_round_trip});

}  // namespace
}  // namespace railshmem::perf::gpu
