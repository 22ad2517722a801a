// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels of one's own that put thousands of rows, each with a signal, to wherever they belong, inside a node and
// between nodes: the exchange of a mixture of experts by hand. Every token goes to its top-k experts on other PEs
// (dispatch), is transformed there, comes back and is summed with its weights (combine). Inside a node
// librailshmem-moe.so does that with fewer bytes: moe_dispatch.cu. Three kernels, no barrier, no CPU in between:
//   dispatch  puts each token into a slot of each of its experts, then waits for what all PEs send to the experts here
//   experts   scales what has come (a stand-in for the real work)
//   combine   puts results back to where their tokens came from, waits for its own tokens' results, and sums them
// Each put carries a signal of its own, SET to a number that grows from round to round and names the token. So nothing
// is counted by atomics, nothing is cleared between rounds, and the data may arrive in any order. A PE's slots for one
// source are written again only after that source has had all results of the round before: no barrier is needed either.
// The result is compared with the host's, bit for bit.
//   oshrun -n 8 ./expert_puts [--tokens 128] [--hidden 7168] [--topk 8] [--experts 256] [--rounds 50]
//                             [--blocks N] [--threads 1024] [--by-block 1]
#include <utility>
#include <vector>

#include "gpu_example.h"

using Half = uint16_t;  // a bfloat16: the upper half of a float
constexpr int kPack = 8;
struct alignas(16) Pack {  // one load or store of a thread
  Half value[kPack];
};

__host__ __device__ inline float to_float(Half half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
/// Rounds to the nearest value, and from the middle to the even one. Not for infinities and NaNs.
__host__ __device__ inline Half to_half(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return static_cast<Half>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// What an expert does. Scales and weights have at most 8 significant bits, so products are exact in a float: fused
/// multiply-add does not change the bits of the result.
__host__ __device__ inline Half expert_value(int expert, Half value) {
  return to_half(to_float(value) * (1.0f + static_cast<float>(expert % 61) / 64.0f));
}

/// The data of all kernels. PEs have equally many tokens and experts; expert e is on PE e / local_experts. An "entry"
/// is a token's way to one of its experts: token * topk + number of the expert among the token's.
struct Job {
  int me, npes, tokens, packs, topk, experts, local_experts;
  // Of this PE's entries: expert, slot at the expert, weight of the expert's result.
  const int *expert, *slot;
  const float* weight;
  const int* sent;  // [expert]: entries for it
  // Symmetric. An expert has as many slots for each PE as a PE has tokens.
  Pack* token;          // [token][pack]
  Pack* at_expert;      // [local expert][source PE][slot][pack]
  uint64_t* came;       // [local expert][source PE][slot]: round and entry
  uint64_t* announced;  // [local expert][source PE]: round and number of tokens that come
  Pack* back;           // [entry][pack]
  uint64_t* came_back;  // [entry]: round
  Pack* result;         // [token][pack]
  // The tokens that came here in a round, in the order in which they were seen.
  int2* received;            // index in `came`, entry of the source
  unsigned* received_count;  // [round]
};

// Signals have the round in the upper half, so that those of a round are greater than all of the rounds before.
__device__ uint64_t signal_of(int round, uint32_t low) {
  return static_cast<uint64_t>(round) << 32 | low;
}
/// Waits for a signal of this round; returns the signal's lower half.
__device__ uint32_t wait_for(uint64_t* signal, int round) {
  return static_cast<uint32_t>(shmem_signal_wait_until(signal, SHMEM_CMP_GE, signal_of(round, 0)));
}

/// The threads that put one token: all threads of a warp, or of a block.
struct ByWarp {
  static __device__ int rank() { return threadIdx.x % 32; }
  static __device__ int size() { return 32; }
  static __device__ int index() { return threadIdx.x / 32 * gridDim.x + blockIdx.x; }  // neighbours on other SMs
  static __device__ int count() { return gridDim.x * (blockDim.x / 32); }
  static __device__ void put(Pack* dest, const Pack* source, int packs, uint64_t* signal, uint64_t value, int pe) {
    shmemx_putmem_signal_nbi_warp(dest, source, packs * sizeof(Pack), signal, value, SHMEM_SIGNAL_SET, pe);
  }
};
struct ByBlock {
  static __device__ int rank() { return threadIdx.x; }
  static __device__ int size() { return blockDim.x; }
  static __device__ int index() { return blockIdx.x; }
  static __device__ int count() { return gridDim.x; }
  static __device__ void put(Pack* dest, const Pack* source, int packs, uint64_t* signal, uint64_t value, int pe) {
    shmemx_putmem_signal_nbi_block(dest, source, packs * sizeof(Pack), signal, value, SHMEM_SIGNAL_SET, pe);
  }
};

/// All blocks must run at once: each sends first and waits then.
template <class By>
__global__ void __launch_bounds__(1024) dispatch(Job job, int round) {
  const int thread = blockIdx.x + gridDim.x * threadIdx.x, threads = gridDim.x * blockDim.x;  // neighbours on all SMs
  // Announces how many tokens come, so that nobody waits for more.
  for (int expert = thread; expert < job.experts; expert += threads) {
    const int at = expert % job.local_experts * job.npes + job.me;
    shmem_signal_set(&job.announced[at], signal_of(round, job.sent[expert]), expert / job.local_experts);
  }
  for (int entry = By::index(); entry < job.tokens * job.topk; entry += By::count()) {
    const int expert = job.expert[entry];
    const size_t at =
        static_cast<size_t>(expert % job.local_experts * job.npes + job.me) * job.tokens + job.slot[entry];
    By::put(job.at_expert + at * job.packs, job.token + static_cast<size_t>(entry / job.topk) * job.packs, job.packs,
            &job.came[at], signal_of(round, entry), expert / job.local_experts);
  }
  // A thread for each pair of an expert here and a source.
  for (int pair = thread; pair < job.experts; pair += threads) {
    const int count = static_cast<int>(wait_for(&job.announced[pair], round));
    const unsigned first = atomicAdd(&job.received_count[round], static_cast<unsigned>(count));
    for (int slot = 0; slot < count; ++slot) {
      const int at = pair * job.tokens + slot;
      job.received[first + slot] = {at, static_cast<int>(wait_for(&job.came[at], round))};
    }
  }
}

/// One block for one token at a time.
__global__ void __launch_bounds__(1024) experts(Job job, int round) {
  for (unsigned i = blockIdx.x; i < job.received_count[round]; i += gridDim.x) {
    const int at = job.received[i].x;
    const int expert = job.me * job.local_experts + at / (job.npes * job.tokens);
    Pack* const packs = job.at_expert + static_cast<size_t>(at) * job.packs;
    for (int p = threadIdx.x; p < job.packs; p += blockDim.x) {
      Pack pack = packs[p];
      for (Half& value : pack.value) value = expert_value(expert, value);
      packs[p] = pack;
    }
  }
}

template <class By>
__global__ void __launch_bounds__(1024) combine(Job job, int round) {
  for (unsigned i = By::index(); i < job.received_count[round]; i += By::count()) {
    const int at = job.received[i].x, entry = job.received[i].y;
    By::put(job.back + static_cast<size_t>(entry) * job.packs, job.at_expert + static_cast<size_t>(at) * job.packs,
            job.packs, &job.came_back[entry], signal_of(round, 0), at / job.tokens % job.npes);
  }
  for (int token = blockIdx.x; token < job.tokens; token += gridDim.x) {
    const int first = token * job.topk;
    for (int k = threadIdx.x; k < job.topk; k += blockDim.x) wait_for(&job.came_back[first + k], round);
    __syncthreads();
    for (int p = threadIdx.x; p < job.packs; p += blockDim.x) {
      float sum[kPack] = {};
      for (int k = 0; k < job.topk; ++k) {
        const Pack pack = job.back[static_cast<size_t>(first + k) * job.packs + p];
        for (int i = 0; i < kPack; ++i) sum[i] += job.weight[first + k] * to_float(pack.value[i]);
      }
      Pack result;
      for (int i = 0; i < kPack; ++i) result.value[i] = to_half(sum[i]);
      job.result[static_cast<size_t>(token) * job.packs + p] = result;
    }
  }
}

/// Completes the puts of the kernel before.
__global__ void complete() {
  shmem_quiet();
}

/// Pseudo-random numbers, alike on all PEs.
static uint32_t mix(uint32_t a, uint32_t b) {
  uint32_t h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;
  h = (h ^ h >> 15) * 0xc2b2ae35u;
  return h ^ h >> 13;
}

/// The router's work, done beforehand: which token goes to which experts.
struct Routing {
  std::vector<int> expert, slot, sent;
  std::vector<float> weight;

  explicit Routing(const Job& job) : sent(job.experts) {
    for (int token = 0; token < job.tokens; ++token)
      for (int k = 0; k < job.topk; ++k) {
        uint32_t seed = mix(job.me * job.tokens + token, k);
        int chosen;
        do chosen = static_cast<int>((seed = mix(seed, 1)) % job.experts);
        while (std::find(expert.end() - k, expert.end(), chosen) != expert.end());
        expert.push_back(chosen);
        slot.push_back(sent[chosen]++);
        weight.push_back(static_cast<float>(1 + mix(seed, 2) % 255) / 256.0f);
      }
  }
};

/// Counts the values of this PE's result whose bits are not those of the host's.
static long compare_with_host(const Job& job, const Routing& routing, const std::vector<Half>& token) {
  const size_t hidden = static_cast<size_t>(job.packs) * kPack;
  std::vector<Half> result(token.size());
  MUST(cudaMemcpy(result.data(), job.result, result.size() * sizeof(Half), cudaMemcpyDeviceToHost));
  long wrong = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    float sum = 0;
    for (size_t entry = i / hidden * job.topk; entry < (i / hidden + 1) * job.topk; ++entry)
      sum += routing.weight[entry] * to_float(expert_value(routing.expert[entry], token[i]));
    wrong += to_half(sum) != result[i];
  }
  return wrong;
}

template <class T>
static const T* copy_to_gpu(const std::vector<T>& values) {
  T* memory = nullptr;
  MUST(cudaMalloc(&memory, values.size() * sizeof(T)));
  MUST(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

/// Microseconds of dispatch and combine, the mean of all rounds but the first ones.
template <class By>
static std::pair<double, double> run(const Job& job, int rounds, int blocks, int threads) {
  std::vector<cudaEvent_t> events(4 * rounds);
  for (cudaEvent_t& event : events) MUST(cudaEventCreate(&event));
  for (int round = 1; round <= rounds; ++round) {
    cudaEvent_t* const event = &events[4 * (round - 1)];
    MUST(cudaEventRecord(event[0]));
    dispatch<By><<<blocks, threads>>>(job, round);
    MUST(cudaEventRecord(event[1]));
    experts<<<blocks, threads>>>(job, round);
    MUST(cudaEventRecord(event[2]));
    combine<By><<<blocks, threads>>>(job, round);
    MUST(cudaEventRecord(event[3]));
    MUST(cudaGetLastError());
  }
  complete<<<1, 1>>>();
  MUST(cudaDeviceSynchronize());
  const int warm_up = rounds / 5;
  double us[2] = {};
  for (int round = warm_up; round < rounds; ++round)
    for (int phase = 0; phase < 2; ++phase) {
      float ms = 0;
      MUST(cudaEventElapsedTime(&ms, events[4 * round + 2 * phase], events[4 * round + 2 * phase + 1]));
      us[phase] += ms * 1e3 / (rounds - warm_up);
    }
  for (cudaEvent_t event : events) MUST(cudaEventDestroy(event));
  return {us[0], us[1]};
}

int main(int argc, char** argv) {
  example::start();
  Job job{};
  job.me = shmem_my_pe();
  job.npes = shmem_n_pes();
  job.tokens = example::option(argc, argv, "--tokens", 128);
  const int hidden = example::option(argc, argv, "--hidden", 7168);
  job.packs = hidden / kPack;
  job.topk = example::option(argc, argv, "--topk", 8);
  job.experts = example::option(argc, argv, "--experts", 256 / job.npes * job.npes);
  job.local_experts = job.experts / job.npes;
  const int rounds = example::option(argc, argv, "--rounds", 50);
  const int blocks = std::min(example::option(argc, argv, "--blocks", 1 << 20), example::multiprocessors());
  const int threads = example::option(argc, argv, "--threads", 1024);
  const bool by_block = example::option(argc, argv, "--by-block", 0) != 0;
  example::demand(job.tokens > 0 && rounds > 0 && blocks > 0, "--tokens, --rounds and --blocks of 1 or more");
  example::demand(hidden > 0 && hidden % kPack == 0, "--hidden of a multiple of 8");
  example::demand(job.experts > 0 && job.experts % job.npes == 0, "equally many --experts on every PE");
  example::demand(job.topk > 0 && job.topk <= job.experts, "--topk of 1 to the number of experts");
  example::demand(threads >= 32 && threads <= 1024 && threads % 32 == 0, "--threads of whole warps, at most 1024");

  const size_t entries = static_cast<size_t>(job.tokens) * job.topk;
  const size_t slots = static_cast<size_t>(job.experts) * job.tokens;  // here: local experts x PEs x tokens
  job.token = example::on_gpu<Pack>(static_cast<size_t>(job.tokens) * job.packs);
  job.at_expert = example::on_gpu<Pack>(slots * job.packs);
  job.came = example::on_gpu<uint64_t>(slots);
  job.announced = example::on_gpu<uint64_t>(job.experts);
  job.back = example::on_gpu<Pack>(entries * job.packs);
  job.came_back = example::on_gpu<uint64_t>(entries);
  job.result = example::on_gpu<Pack>(static_cast<size_t>(job.tokens) * job.packs);
  // No more can come than all PEs send.
  MUST(cudaMalloc(&job.received, entries * job.npes * sizeof(int2)));
  MUST(cudaMalloc(&job.received_count, (rounds + 1) * sizeof(unsigned)));
  MUST(cudaMemset(job.received_count, 0, (rounds + 1) * sizeof(unsigned)));

  const Routing routing(job);
  job.expert = copy_to_gpu(routing.expert);
  job.slot = copy_to_gpu(routing.slot);
  job.sent = copy_to_gpu(routing.sent);
  job.weight = copy_to_gpu(routing.weight);
  std::vector<Half> token(static_cast<size_t>(job.tokens) * hidden);
  for (size_t i = 0; i < token.size(); ++i)
    token[i] =
        to_half(static_cast<float>(static_cast<int>(mix(job.me, static_cast<uint32_t>(i)) % 20001) - 10000) / 5000.0f);
  MUST(cudaMemcpy(job.token, token.data(), token.size() * sizeof(Half), cudaMemcpyHostToDevice));
  MUST(cudaDeviceSynchronize());
  shmem_barrier_all();

  const auto [dispatch_us, combine_us] =
      by_block ? run<ByBlock>(job, rounds, blocks, threads) : run<ByWarp>(job, rounds, blocks, threads);
  const double slowest[2] = {example::largest(dispatch_us), example::largest(combine_us)};

  long wrong = compare_with_host(job, routing, token);
  unsigned received = 0;
  MUST(cudaMemcpy(&received, job.received_count + rounds, sizeof received, cudaMemcpyDeviceToHost));
  const long lost = static_cast<long>(entries) * job.npes - example::sum(received);
  if (job.me == 0) {
    wrong += std::labs(lost);
    const double bytes = static_cast<double>(entries) * hidden * sizeof(Half);  // that a PE sends
    std::printf("expert_puts: %d PEs, %d tokens x %d x 2 bytes to %d of %d experts, by %s, %d blocks of %d threads\n",
                job.npes, job.tokens, hidden, job.topk, job.experts, by_block ? "blocks" : "warps", blocks, threads);
    std::printf("expert_puts: dispatch %.1f us, %.1f GB/s a PE; combine %.1f us, %.1f GB/s a PE\n", slowest[0],
                bytes / slowest[0] * 1e-3, slowest[1], bytes / slowest[1] * 1e-3);
  }
  for (void* const memory :
       {static_cast<void*>(job.token), static_cast<void*>(job.at_expert), static_cast<void*>(job.came),
        static_cast<void*>(job.announced), static_cast<void*>(job.back), static_cast<void*>(job.came_back),
        static_cast<void*>(job.result)})
    shmem_free(memory);
  return example::finish("expert_puts", wrong);
}
