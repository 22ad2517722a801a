// SPDX-License-Identifier: BSD-3-Clause
// moe_bulk_dispatch and moe_bulk_combine: the calls of librailshmem-moe.so for many tokens in turns, with members whose
// results are the tokens themselves. A token goes to the PEs that have one of its 8 random experts. Times and --shapes
// are those of moe_dispatch. --ctas: multiprocessors.
#include <shmem.h>
#include <shmemx_moe.h>

#include <cstring>

#include "perftest/device/moe/common.cuh"

namespace railshmem::perf::gpu {
namespace {

constexpr int kChosen = 8;

class Layer {
 public:
  Layer(Context& context, const MoeShape& shape, int type)
      : context_(context),
        shape_(shape),
        type_(type),
        config_(configuration(context, shape)),
        nbytes_(shmemx_moe_bulk_workspace(SHMEM_TEAM_WORLD, &config_)),
        workspace_(nbytes_),
        x_(allocate_gpu<Word>(elements(1))),
        out_(allocate_gpu<Word>(elements(1))),
        rows_(allocate_gpu<Word>(elements(context.npes))),
        x_words_(allocate_gpu<int32_t>(words(1))),
        row_words_(allocate_gpu<int32_t>(words(context.npes))),
        numbers_(allocate_gpu<int32_t>(static_cast<size_t>(shape.tokens * context.npes))),
        begins_(allocate_gpu<int32_t>(static_cast<size_t>(context.npes) + 1)) {
    must(shmemx_moe_bulk_create(SHMEM_TEAM_WORLD, &config_, workspace_.as<void>(), nbytes_, &handle_));
    route();
    context.barrier();
  }
  ~Layer() {
    if (giving_up()) return;
    job::barrier();
    shmemx_moe_bulk_destroy(handle_);
  }
  Layer(const Layer&) = delete;

  void dispatch() {
    shmemx_moe_bulk_dispatch_t call = SHMEMX_MOE_BULK_DISPATCH_INITIALIZER;
    call.handle = handle_;
    call.route = route_;
    call.x_type = type_;
    call.words = eight_bits() ? config_.words : 0;  // as many as scales would be
    call.x = x_.get();
    call.x_words = x_words_.get();
    call.rows = rows_.get();
    call.row_words = row_words_.get();
    must(shmemx_moe_bulk_dispatch_on_stream(&call, context_.stream()));
  }
  void combine() {
    shmemx_moe_bulk_combine_t call = SHMEMX_MOE_BULK_COMBINE_INITIALIZER;
    call.handle = handle_;
    call.route = route_;
    call.rows = rows_.get();
    call.out = out_.get();
    must(shmemx_moe_bulk_combine_on_stream(&call, context_.stream()));
  }
  bool eight_bits() const { return type_ != SHMEMX_DATATYPE_BFLOAT16; }
  bool combines() const { return !eight_bits(); }
  /// Whether each token has come back as often as it went out: it is a power of two, and so few copies add up exactly.
  bool right() const {
    std::vector<Word> sent(elements(1)), came(elements(1));
    CUDA_CHECK(cudaMemcpy(sent.data(), x_.get(), sent.size() * sizeof(Word), cudaMemcpyDefault));
    CUDA_CHECK(cudaMemcpy(came.data(), out_.get(), came.size() * sizeof(Word), cudaMemcpyDefault));
    for (size_t i = 0; i < sent.size(); ++i)
      if (float_of(came[i]) != float_of(sent[i]) * static_cast<float>(times_[i / static_cast<size_t>(shape_.hidden)]))
        return false;
    return true;
  }
  /// What this PE's tokens need to cross.
  uint64_t crossing_nbytes() const { return crossing_ * token_nbytes(); }
  uint64_t token_nbytes() const {
    const auto hidden = static_cast<uint64_t>(shape_.hidden);
    return eight_bits() ? hidden + 4 * static_cast<uint64_t>(config_.words) : 2 * hidden;
  }

 private:
  static shmemx_moe_bulk_config_t configuration(const Context& context, const MoeShape& shape) {
    shmemx_moe_bulk_config_t config = SHMEMX_MOE_BULK_CONFIG_INITIALIZER;
    config.hidden = shape.hidden;
    config.max_tokens = shape.tokens;
    config.words = shape.hidden / 128;
    config.multiprocessors = static_cast<int>(context.ctas(0));
    return config;
  }
  static float float_of(Word bits) {
    const uint32_t whole = uint32_t{bits} << 16;
    float value = 0;
    std::memcpy(&value, &whole, sizeof value);
    return value;
  }
  size_t elements(int pes) const {
    return static_cast<size_t>(pes) * static_cast<size_t>(shape_.tokens) * static_cast<size_t>(shape_.hidden);
  }
  size_t words(int pes) const {
    return static_cast<size_t>(pes) * static_cast<size_t>(shape_.tokens) *
           static_cast<size_t>(std::max(config_.words, 1));
  }
  /// Whether a PE's token goes to another PE.
  std::vector<bool> goes(int pe, int t) const {
    std::vector<bool> reached(static_cast<size_t>(context_.npes));
    for (int k = 0; k < kChosen; ++k) {
      const uint32_t expert = mixed(static_cast<uint32_t>(t * 64 + k), static_cast<uint32_t>(pe) + 7) %
                              static_cast<uint32_t>(shape_.experts);
      reached[expert * static_cast<uint32_t>(context_.npes) / static_cast<uint32_t>(shape_.experts)] = true;
    }
    return reached;
  }
  void route() {
    std::vector<Word> x(elements(1));
    for (size_t i = 0; i < x.size(); ++i)  // powers of two, of bf16
      x[i] = static_cast<Word>((100 + mixed(static_cast<uint32_t>(i), static_cast<uint32_t>(context_.pe)) % 50) << 7);
    std::vector<int32_t> numbers, begins{0}, before(static_cast<size_t>(context_.npes));
    for (int t = 0; t < shape_.tokens; ++t) {
      const std::vector<bool> reached = goes(context_.pe, t);
      times_.push_back(0);
      for (int to = 0; to < context_.npes; ++to) {
        const bool there = reached[static_cast<size_t>(to)];
        numbers.push_back(there ? before[static_cast<size_t>(to)]++ : -1);
        times_.back() += there;
        crossing_ += there && to != context_.pe;
      }
    }
    for (int pe = 0; pe < context_.npes; ++pe) {
      begins.push_back(begins.back());
      for (int t = 0; t < shape_.tokens; ++t) begins.back() += goes(pe, t)[static_cast<size_t>(context_.pe)];
    }
    CUDA_CHECK(cudaMemcpy(x_.get(), x.data(), x.size() * sizeof(Word), cudaMemcpyDefault));
    CUDA_CHECK(cudaMemcpy(numbers_.get(), numbers.data(), numbers.size() * sizeof(int32_t), cudaMemcpyDefault));
    CUDA_CHECK(cudaMemcpy(begins_.get(), begins.data(), begins.size() * sizeof(int32_t), cudaMemcpyDefault));
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
    route_ = {shape_.tokens, shape_.tokens * context_.npes, numbers_.get(), begins_.get()};
  }

  Context& context_;
  const MoeShape shape_;
  const int type_;
  const shmemx_moe_bulk_config_t config_;
  const size_t nbytes_;
  Symmetric workspace_;
  Gpu<Word> x_, out_, rows_;
  Gpu<int32_t> x_words_, row_words_, numbers_, begins_;
  shmemx_moe_bulk_t handle_ = nullptr;
  shmemx_moe_bulk_route_t route_{};
  std::vector<int> times_;  ///< that a token goes out
  uint64_t crossing_ = 0;
};

void run_shape(Context& context, const MoeShape& shape, int type, bool combines) {
  Layer layer(context, shape, type);
  const long iters = calls_of(context, shape, layer.token_nbytes());
  std::optional<Graphs<Layer>> graphs;
  if (context.options.graph) graphs.emplace(context, layer, iters);
  const auto measured = [&] { return graphs ? graphs->times() : times_of(context, layer, iters); };
  measured();  // warms up
  std::vector<double> seconds;
  for (int i = 0; i < context.options.common.repetitions; ++i) {
    const Times times = measured();
    seconds.push_back(combines ? times.combine : times.dispatch);
  }
  std::optional<bool> validated;
  if (context.options.common.validate && layer.combines()) validated = context.all(layer.right());
  Row row = context.row("latency", "us", layer.crossing_nbytes(), 0, 0);
  row.variant = Variant{context.options.graph ? "graph" : "stream", "heap",
                        layer.eight_bits() ? "float8_e4m3" : "bfloat16", false, shape.name};
  row.iters = iters * context.options.common.repetitions;
  row.validated = validated;
  set_time(row, seconds, static_cast<double>(iters));
  set_bandwidths(row, 1);
  context.add(std::move(row));
  if (validated && !*validated) context.agree(false);
}

void run(Context& context, bool combines) {
  const std::vector<std::string> usual{"512x7168x256", "4096x7168x256"};
  for (const std::string& word : context.options.shapes.empty() ? usual : context.options.shapes) {
    const MoeShape shape = shape_of(word);
    run_shape(context, shape, SHMEMX_DATATYPE_BFLOAT16, combines);
    if (!combines && shape.hidden % 128 == 0) run_shape(context, shape, SHMEMX_DATATYPE_FLOAT8_E4M3, combines);
  }
}

const Register dispatches(
    {"moe_bulk_dispatch",
     "many tokens to the PEs of their experts, bf16 and 8 bits with scales; --shapes tokens x channels x experts",
     Part::all,
     {1, 1},
     {Scope::thread},
     false,
     [](Context& context) { run(context, false); }});
const Register combines({"moe_bulk_combine",
                         "sums of the rows of many tokens back, bf16; --shapes tokens x channels x experts",
                         Part::all,
                         {1, 1},
                         {Scope::thread},
                         false,
                         [](Context& context) { run(context, true); }});

}  // namespace
}  // namespace railshmem::perf::gpu
