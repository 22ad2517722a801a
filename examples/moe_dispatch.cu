// SPDX-License-Identifier: BSD-3-Clause
//
// A layer of a mixture of experts with librailshmem-moe.so: dispatch sends each token to its top-k experts on all PEs,
// a kernel of this program is the experts, combine brings back the weighted sums. Three entries in one stream, or in a
// graph; the CPU waits for nothing. The result is compared with the host's, bit for bit. Explained by
// docs/tutorials/10-experts.md.
//   oshrun -n 2 ./moe_dispatch [--tokens 128] [--hidden 7168] [--topk 8] [--experts 64] [--rounds 50] [--graph]
#include <shmemx_moe.h>

#include <vector>

#include "gpu_example.h"

namespace {

using Bf16 = uint16_t;  // a bfloat16: the upper half of a float
constexpr int kThreads = 256;

__host__ __device__ inline float value_of(Bf16 bits) {
  const uint32_t whole = static_cast<uint32_t>(bits) << 16;
  float value;
  memcpy(&value, &whole, sizeof value);
  return value;
}
/// Rounds to the nearest value, and from the middle to the even one. Not for infinities and NaNs.
__host__ __device__ inline Bf16 rounded(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return static_cast<Bf16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
/// What an expert makes of a channel. Factors and weights have at most 8 bits, so products are exact in a float.
__host__ __device__ inline Bf16 expert_value(int expert, Bf16 value) {
  return rounded(value_of(value) * (1.0f + static_cast<float>(expert % 61) / 64.0f));
}

/// The experts of this PE, in place. Rows of an expert lie one behind the other, `capacity` rows from those of the next
/// expert; totals says how many have come. The grid has a row of blocks for each expert.
__global__ void experts(Bf16* rows, const int32_t* totals, int first_expert, size_t capacity, int hidden) {
  const int e = static_cast<int>(blockIdx.y);
  Bf16* const mine = rows + e * capacity * hidden;
  const size_t count = static_cast<size_t>(totals[e]) * hidden;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += static_cast<size_t>(gridDim.x) * blockDim.x)
    mine[i] = expert_value(first_expert + e, mine[i]);
}

/// The tokens of this PE, and which experts the router chose for them. Pseudo-random, as if there were a router.
struct Tokens {
  std::vector<Bf16> x;           // [tokens][hidden]
  std::vector<int64_t> experts;  // [tokens][topk]
  std::vector<float> weights;    // [tokens][topk]

  explicit Tokens(const shmemx_moe_config_t& config) {
    const uint32_t seed = 1000003u * static_cast<uint32_t>(shmem_my_pe());
    for (int i = 0; i < config.max_tokens * config.hidden; ++i) x.push_back(rounded(2 * example::noise(seed + i)));
    for (int i = 0; i < config.max_tokens * config.topk; ++i) {
      const auto token = experts.end() - i % config.topk;  // its experts so far
      auto chosen = static_cast<int64_t>((example::noise(seed + 7 * i) + 1) / 2 * config.experts) % config.experts;
      while (std::find(token, experts.end(), chosen) != experts.end()) chosen = (chosen + 1) % config.experts;
      experts.push_back(chosen);
      weights.push_back(static_cast<float>(1 + i * 37 % 255) / 256.0f);
    }
  }
};

template <class T>
T* own_memory(size_t n) {
  T* memory = nullptr;
  MUST(cudaMalloc(&memory, n * sizeof(T)));
  return memory;
}
template <class T>
T* copy_on_gpu(const std::vector<T>& values) {
  T* const memory = own_memory<T>(values.size());
  MUST(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

/// A message of the library has said what is wrong.
void must_be_taken(int status) {
  if (status != 0) shmem_global_exit(2);
}

class Layer {
 public:
  /// Collective.
  Layer(const shmemx_moe_config_t& config, const Tokens& tokens) : config_(config), tokens_(tokens) {
    // The workspace is the only symmetric memory: the PEs write into each other's.
    const size_t nbytes = shmemx_moe_workspace_of(shmem_n_pes(), &config);
    if (nbytes == 0) shmem_global_exit(2);
    workspace_ = example::on_gpu<char>(nbytes);
    must_be_taken(shmemx_moe_create(SHMEM_TEAM_WORLD, &config, workspace_, nbytes, &dispatch_.handle));

    dispatch_.tokens = config.max_tokens;
    dispatch_.x = copy_on_gpu(tokens.x);
    dispatch_.experts = copy_on_gpu(tokens.experts);
    dispatch_.weights = copy_on_gpu(tokens.weights);
    dispatch_.rows = own_memory<Bf16>(local() * capacity() * config.hidden);  // as if all tokens chose each expert
    dispatch_.counts = own_memory<int32_t>(local() * shmem_n_pes());
    dispatch_.totals = own_memory<int32_t>(local());
    combine_.handle = dispatch_.handle;
    combine_.rows = dispatch_.rows;  // the experts work in place
    combine_.out = own_memory<Bf16>(tokens.x.size());
  }
  ~Layer() {
    shmem_barrier_all();  // nobody writes into this PE's workspace any more
    must_be_taken(shmemx_moe_destroy(dispatch_.handle));
    shmem_free(workspace_);
    for (const void* const memory :
         {dispatch_.x, static_cast<const void*>(dispatch_.experts), static_cast<const void*>(dispatch_.weights),
          static_cast<const void*>(dispatch_.rows), static_cast<const void*>(dispatch_.counts),
          static_cast<const void*>(dispatch_.totals), static_cast<const void*>(combine_.out)})
      MUST(cudaFree(const_cast<void*>(memory)));
  }
  Layer(const Layer&) = delete;

  /// Puts one pass into the stream.
  void run(cudaStream_t stream) const {
    must_be_taken(shmemx_moe_dispatch_on_stream(&dispatch_, stream));
    const dim3 grid(4, static_cast<unsigned>(local()));
    experts<<<grid, kThreads, 0, stream>>>(static_cast<Bf16*>(dispatch_.rows), dispatch_.totals,
                                           shmem_my_pe() * local(), capacity(), config_.hidden);
    MUST(cudaGetLastError());
    must_be_taken(shmemx_moe_combine_on_stream(&combine_, stream));
  }
  void clear_result() const {
    MUST(cudaMemset(combine_.out, 0, tokens_.x.size() * sizeof(Bf16)));
    MUST(cudaDeviceSynchronize());
  }

  /// Counts channels of the result that are not the host's. Sums have one order: the experts of a PE in the order in
  /// which the token names them, then the PEs in the order of their numbers.
  long wrong() const {
    std::vector<Bf16> out(tokens_.x.size());
    MUST(cudaMemcpy(out.data(), combine_.out, out.size() * sizeof(Bf16), cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t first = i / config_.hidden * config_.topk;
      float sum = 0;
      for (int pe = 0; pe < shmem_n_pes(); ++pe) {
        float theirs = 0;
        for (size_t k = first; k < first + config_.topk; ++k) {
          const int expert = static_cast<int>(tokens_.experts[k]);
          if (expert / local() == pe) theirs += tokens_.weights[k] * value_of(expert_value(expert, tokens_.x[i]));
        }
        sum += theirs;
      }
      wrong += out[i] != rounded(sum);
    }
    return wrong;
  }

 private:
  int local() const { return config_.experts / shmem_n_pes(); }
  size_t capacity() const { return static_cast<size_t>(shmem_n_pes()) * config_.max_tokens; }

  const shmemx_moe_config_t config_;
  const Tokens& tokens_;
  void* workspace_ = nullptr;
  shmemx_moe_dispatch_t dispatch_ = SHMEMX_MOE_DISPATCH_INITIALIZER;
  shmemx_moe_combine_t combine_ = SHMEMX_MOE_COMBINE_INITIALIZER;
};

/// The pass as a graph. A launch reads tokens and experts anew.
cudaGraphExec_t captured(const Layer& layer, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  layer.run(stream);
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  MUST(cudaGraphDestroy(graph));
  return ready;
}

}  // namespace

int main(int argc, char** argv) {
  example::start();
  shmemx_moe_config_t config = SHMEMX_MOE_CONFIG_INITIALIZER;  // of bfloat16
  config.max_tokens = example::option(argc, argv, "--tokens", 128);
  config.hidden = example::option(argc, argv, "--hidden", 7168);
  config.topk = example::option(argc, argv, "--topk", 8);
  config.experts = example::option(argc, argv, "--experts", 64 / shmem_n_pes() * shmem_n_pes());
  const int rounds = example::option(argc, argv, "--rounds", 50);
  example::demand(config.max_tokens > 0 && config.hidden > 0 && rounds > 0,
                  "--tokens, --hidden and --rounds of 1 or more");
  example::demand(config.experts > 0 && config.experts % shmem_n_pes() == 0, "equally many --experts on every PE");
  example::demand(config.topk > 0 && config.topk <= config.experts, "--topk of 1 to the number of experts");

  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Tokens tokens(config);
  long wrong = 0;
  {
    const Layer layer(config, tokens);
    const cudaGraphExec_t graph = example::flag(argc, argv, "--graph") ? captured(layer, stream) : nullptr;
    const auto run = [&](int times) {
      for (int i = 0; i < times; ++i) {
        if (graph == nullptr) {
          layer.run(stream);
        } else {
          MUST(cudaGraphLaunch(graph, stream));
        }
      }
      MUST(cudaStreamSynchronize(stream));
    };
    run(rounds / 5 + 1);
    shmem_barrier_all();
    const double began = example::seconds();
    run(rounds);
    const double us = example::largest((example::seconds() - began) * 1e6 / rounds);
    layer.clear_result();
    run(1);
    wrong = layer.wrong();
    if (shmem_my_pe() == 0)
      std::printf(
          "moe_dispatch: %d PEs, %d tokens x %d x 2 bytes to %d of %d experts: %.1f us for dispatch, experts and "
          "combine\n",
          shmem_n_pes(), config.max_tokens, config.hidden, config.topk, config.experts, us);
    if (graph != nullptr) MUST(cudaGraphExecDestroy(graph));
  }
  MUST(cudaStreamDestroy(stream));
  return example::finish("moe_dispatch", wrong);
}
