// SPDX-License-Identifier: BSD-3-Clause
// moe_dispatch, moe_combine and moe_combine_late: the two calls of librailshmem-moe.so in turns, with experts that
// change nothing; combine is given the weights in the last one. From the stream each call is between two events, which
// adds what events and the launch by the CPU take. With --graph the calls of a graph follow each other: a dispatch is
// one of many dispatches, a combine what pairs take beyond that. --shapes: tokens of a PE x channels x experts of all
// PEs; top 8, random. --ctas: multiprocessors. --maskable: exchanges that can go on without members; here all live.
#include <shmem.h>
#include <shmemx_moe.h>

#include <cmath>
#include <numeric>

#include "perftest/device/moe/common.cuh"

namespace railshmem::perf::gpu {
namespace {

constexpr int kTopk = 8;

class Experts {
 public:
  Experts(Context& context, const MoeShape& shape, int dispatch_type, bool late)
      : context_(context),
        shape_(shape),
        config_(configuration(context, shape, dispatch_type, late)),
        nbytes_(shmemx_moe_workspace(SHMEM_TEAM_WORLD, &config_)),
        workspace_(nbytes_),
        x_(allocate_gpu<Word>(elements())),
        out_(allocate_gpu<Word>(elements())),
        chosen_(allocate_gpu<int64_t>(entries())),
        weights_(allocate_gpu<float>(entries())),
        rows_(allocate_gpu<char>(rows() * static_cast<size_t>(shape.hidden) * (eight_bits() ? 1 : sizeof(Word)))),
        scales_(allocate_gpu<float>(rows() * static_cast<size_t>(shape.hidden) / 128)),
        counts_(allocate_gpu<int32_t>(static_cast<size_t>(shape.experts))) {
    must(shmemx_moe_create(SHMEM_TEAM_WORLD, &config_, workspace_.as<void>(), nbytes_, &handle_));
    route();
    context.barrier();
  }
  ~Experts() {
    if (giving_up()) return;
    job::barrier();
    shmemx_moe_destroy(handle_);
  }
  Experts(const Experts&) = delete;

  void dispatch() {
    shmemx_moe_dispatch_t call = SHMEMX_MOE_DISPATCH_INITIALIZER;
    call.handle = handle_;
    call.tokens = shape_.tokens;
    call.x = x_.get();
    call.experts = chosen_.get();
    if (config_.late_weights == 0) call.weights = weights_.get();
    call.rows = rows_.get();
    call.scales = scales_.get();
    call.counts = counts_.get();
    must(shmemx_moe_dispatch_on_stream(&call, context_.stream()));
  }
  void combine() {
    shmemx_moe_combine_t call = SHMEMX_MOE_COMBINE_INITIALIZER;
    call.handle = handle_;
    call.rows = rows_.get();
    call.out = out_.get();
    if (config_.late_weights != 0) call.weights = weights_.get();
    must(shmemx_moe_combine_on_stream(&call, context_.stream()));
  }
  /// Whether each token has come back as it was: its weights add up to 1.
  bool right() const {
    std::vector<Word> sent(elements()), came(elements());
    CUDA_CHECK(cudaMemcpy(sent.data(), x_.get(), elements() * sizeof(Word), cudaMemcpyDefault));
    CUDA_CHECK(cudaMemcpy(came.data(), out_.get(), elements() * sizeof(Word), cudaMemcpyDefault));
    return sent == came;
  }
  bool eight_bits() const { return config_.dispatch_type != config_.type; }
  bool combines() const { return !eight_bits(); }
  /// What this PE's tokens need to cross, once to each other PE that has experts of them.
  uint64_t crossing_nbytes() const { return crossing_ * token_nbytes(); }
  uint64_t token_nbytes() const { return static_cast<uint64_t>(shape_.hidden) * (eight_bits() ? 1 : 2); }

 private:
  static shmemx_moe_config_t configuration(const Context& context, const MoeShape& shape, int dispatch_type,
                                           bool late) {
    shmemx_moe_config_t config = SHMEMX_MOE_CONFIG_INITIALIZER;
    config.experts = shape.experts;
    config.topk = std::min(kTopk, shape.experts);
    config.hidden = shape.hidden;
    config.max_tokens = shape.tokens;
    config.dispatch_type = dispatch_type;
    config.multiprocessors = static_cast<int>(context.ctas(0));
    config.late_weights = late ? 1 : 0;
    config.maskable = context.options.maskable ? 1 : 0;
    return config;
  }
  size_t elements() const { return static_cast<size_t>(shape_.tokens) * static_cast<size_t>(shape_.hidden); }
  size_t entries() const { return static_cast<size_t>(shape_.tokens) * static_cast<size_t>(config_.topk); }
  size_t rows() const { return static_cast<size_t>(shape_.experts) * static_cast<size_t>(shape_.tokens); }

  /// Each token's experts differ, and are drawn from all.
  void route() {
    std::vector<Word> x(elements());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<Word>(0x3f00u + mixed(static_cast<uint32_t>(i), static_cast<uint32_t>(context_.pe)) % 256);
    std::vector<int64_t> chosen;
    std::vector<float> weights;
    const int local = shape_.experts / context_.npes;
    for (int t = 0; t < shape_.tokens; ++t) {
      std::vector<int64_t> all(static_cast<size_t>(shape_.experts));
      std::iota(all.begin(), all.end(), 0);
      std::vector<bool> reached(static_cast<size_t>(context_.npes));
      for (int k = 0; k < config_.topk; ++k) {
        const uint32_t random = mixed(static_cast<uint32_t>(t * 64 + k), static_cast<uint32_t>(context_.pe) + 7);
        std::swap(all[static_cast<size_t>(k)],
                  all[static_cast<size_t>(k) + random % (all.size() - static_cast<size_t>(k))]);
        chosen.push_back(all[static_cast<size_t>(k)]);
        const int power = k + 1 < config_.topk ? k + 1 : k;
        weights.push_back(std::ldexp(1.0F, -power));
        const auto to = static_cast<size_t>(chosen.back() / local);
        if (!reached[to] && static_cast<int>(to) != context_.pe) ++crossing_;
        reached[to] = true;
      }
    }
    CUDA_CHECK(cudaMemcpy(x_.get(), x.data(), x.size() * sizeof(Word), cudaMemcpyDefault));
    CUDA_CHECK(cudaMemcpy(chosen_.get(), chosen.data(), chosen.size() * sizeof(int64_t), cudaMemcpyDefault));
    CUDA_CHECK(cudaMemcpy(weights_.get(), weights.data(), weights.size() * sizeof(float), cudaMemcpyDefault));
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
  }

  Context& context_;
  const MoeShape shape_;
  const shmemx_moe_config_t config_;
  const size_t nbytes_;
  Symmetric workspace_;
  Gpu<Word> x_, out_;
  Gpu<int64_t> chosen_;
  Gpu<float> weights_;
  Gpu<char> rows_;
  Gpu<float> scales_;
  Gpu<int32_t> counts_;
  shmemx_moe_t handle_ = nullptr;
  uint64_t crossing_ = 0;
};

enum class What { dispatch, combine, combine_late };

void run_shape(Context& context, const MoeShape& shape, int dispatch_type, What what) {
  Experts experts(context, shape, dispatch_type, what == What::combine_late);
  const bool combines = what != What::dispatch;
  const long iters = calls_of(context, shape, experts.token_nbytes());
  std::optional<Graphs<Experts>> graphs;
  if (context.options.graph) graphs.emplace(context, experts, iters);
  const auto measured = [&] { return graphs ? graphs->times() : times_of(context, experts, iters); };
  measured();  // warms up
  std::optional<bool> validated;
  if (context.options.common.validate && !experts.eight_bits()) validated = context.all(experts.right());
  std::vector<double> seconds;
  for (int i = 0; i < context.options.common.repetitions; ++i) {
    const Times times = measured();
    seconds.push_back(combines ? times.combine : times.dispatch);
  }
  if (validated) validated = context.all(*validated && experts.right());
  Row row = context.row("latency", "us", experts.crossing_nbytes() * (combines ? 2 : 1), 0, 0);
  row.variant = Variant{context.options.graph ? "graph" : "stream", "heap",
                        experts.eight_bits() ? "float8_e4m3" : "bfloat16", false, shape.name};
  row.iters = iters * context.options.common.repetitions;
  row.validated = validated;
  set_time(row, seconds, static_cast<double>(iters));
  context.add(std::move(row));
  if (validated && !*validated) context.agree(false);
}

void run(Context& context, What what) {
  const std::vector<std::string> usual{"1x7168x64", "16x7168x64", "128x7168x64", "4096x7168x64"};
  for (const std::string& word : context.options.shapes.empty() ? usual : context.options.shapes) {
    const MoeShape shape = shape_of(word);
    run_shape(context, shape, SHMEMX_DATATYPE_BFLOAT16, what);
    if (what == What::dispatch && shape.hidden % 128 == 0) run_shape(context, shape, SHMEMX_DATATYPE_FLOAT8_E4M3, what);
  }
}

const Register dispatches(
    {"moe_dispatch",
     "tokens to their experts, bf16 and with FP8 and scales; --shapes tokens x channels x experts",
     Part::all,
     {1, 1},
     {Scope::thread},
     false,
     [](Context& context) { run(context, What::dispatch); }});
const Register combines({"moe_combine",
                         "weighted sums of the experts' results back, bf16; --shapes tokens x channels x experts",
                         Part::all,
                         {1, 1},
                         {Scope::thread},
                         false,
                         [](Context& context) { run(context, What::combine); }});
const Register late({"moe_combine_late",
                     "as moe_combine, but combine is given the weights; --shapes tokens x channels x experts",
                     Part::all,
                     {1, 1},
                     {Scope::thread},
                     false,
                     [](Context& context) { run(context, What::combine_late); }});

}  // namespace
}  // namespace railshmem::perf::gpu
